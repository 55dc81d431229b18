/** What a gateway key is now: from its dates alone. */
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
