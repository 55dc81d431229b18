/** What a gateway key is now. */
import type { Key } from '../../../../src/control/admin/key-bodies.ts';
import type { Tone } from '../../components/badges.tsx';

export interface KeyState {
  readonly word: 'active' | 'expires soon' | 'expired' | 'revoked';
  readonly tone: Tone;
}

const SOON_MS = 7 * 86_400_000;

export function readKeyState(key: Pick<Key, 'revoked_at' | 'expires_at'>, nowMs: number): KeyState {
  if (key.revoked_at !== null) return { word: 'revoked', tone: 'neutral' };
  if (key.expires_at === null) return { word: 'active', tone: 'good' };
  const leftMs = Date.parse(key.expires_at) - nowMs;
  if (leftMs <= 0) return { word: 'expired', tone: 'bad' };
  return leftMs < SOON_MS ? { word: 'expires soon', tone: 'warn' } : { word: 'active', tone: 'good' };
}

type RotatedKey = Pick<Key, 'id' | 'revoked_at' | 'expires_at' | 'replaced_by'>;

/** Whether a key that rotations made of it is usable: that one is to be rotated, and the gateway refuses this one. */
export function hasUsableSuccessor(key: RotatedKey, all: readonly RotatedKey[], nowMs: number): boolean {
  const next = key.replaced_by === null ? undefined : all.find(({ id }) => id === key.replaced_by);
  if (next === undefined) return false;
  const { word } = readKeyState(next, nowMs);
  return word === 'active' || word === 'expires soon' || hasUsableSuccessor(next, all, nowMs);
}
