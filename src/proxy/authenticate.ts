/**
 * Authenticates a call by its gateway key or run token, from `X-Gateway-Key` or the address, looked up by digest in this
 * process's snapshot, without a database.
 */

import { digestKey, isRunToken, isWellFormedKey } from '../keys/gateway-key.ts';
import type { KeySnapshot } from '../keys/key-snapshot.ts';
import type { KeyEntry } from '../vocabulary/channel.ts';
import { GatewayError } from '../vocabulary/errors.ts';
import type { AddressToken } from './address-token.ts';

/** The snapshot is null until one was loaded. */
export interface KeyHolder {
  snapshot: KeySnapshot | null;
  /** Each connection's last good key: hashing was 2 % of a call's cost. The snapshot is still asked every time. */
  readonly lastOf: WeakMap<object, SeenKey>;
}

interface SeenKey {
  readonly text: string;
  readonly digest: string;
}

/**
 * Throws `key_…`, `token_malformed` or `run_token_…`. `connection` is the client's. With both, the header says the key;
 * a run token in the address still says the run, and must be good.
 */
export function authenticate(
  key: string | undefined,
  address: AddressToken | null,
  holder: KeyHolder,
  connection: object,
  nowMs: number,
): KeyEntry {
  if (address === null) return findKey(key, holder, connection, nowMs);
  const entry = findInAddress(address, holder, connection, nowMs);
  if (key === undefined) return entry;
  const named = findKey(key, holder, connection, nowMs);
  return entry.run === undefined || named.run !== undefined ? named : { ...named, run: entry.run };
}

function findKey(key: string | undefined, holder: KeyHolder, connection: object, nowMs: number): KeyEntry {
  const seen = holder.lastOf.get(connection);
  if (seen !== undefined && seen.text === key) return requireGoodKey(seen.digest, holder, nowMs);
  if (key === undefined || key.trim() === '') throw new GatewayError('key_missing');
  const text = key.trim();
  if (!isWellFormedKey(text)) throw new GatewayError('key_malformed');
  return lookUp(text, holder, connection, nowMs);
}

function findInAddress({ text }: AddressToken, holder: KeyHolder, connection: object, nowMs: number): KeyEntry {
  const seen = holder.lastOf.get(connection);
  const isSeen = seen !== undefined && seen.text === text;
  if (!isSeen && !isWellFormedKey(text)) throw new GatewayError('token_malformed');
  const entry = isSeen ? requireGoodKey(seen.digest, holder, nowMs) : lookUp(text, holder, connection, nowMs);
  if (entry.run === undefined && entry.allowInAddress !== true) throw new GatewayError('key_not_in_address');
  return entry;
}

function lookUp(text: string, holder: KeyHolder, connection: object, nowMs: number): KeyEntry {
  const digest = digestKey(text);
  const entry = requireGoodKey(digest, holder, nowMs, isRunToken(text) ? 'run_token_unknown' : 'key_unknown');
  holder.lastOf.set(connection, { text, digest });
  return entry;
}

/** Throws when the key or run token is not good now, even if it was when its call began. */
export function requireGoodKey(
  digest: string,
  holder: KeyHolder,
  nowMs: number,
  unknown: 'key_unknown' | 'run_token_unknown' = 'key_unknown',
): KeyEntry {
  if (holder.snapshot === null) throw new GatewayError('not_ready');
  const entry = holder.snapshot.keys.get(digest);
  if (entry === undefined) throw new GatewayError(unknown);
  const isExpired = entry.expiresAtMs !== null && entry.expiresAtMs <= nowMs;
  if (entry.run !== undefined && (entry.revoked || isExpired)) throw new GatewayError('run_token_ended');
  if (entry.revoked) throw new GatewayError('key_revoked');
  if (isExpired) throw new GatewayError('key_expired');
  return entry;
}
