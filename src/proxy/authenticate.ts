/**
 * Whose call is it? The gateway key comes from `X-Gateway-Key` alone and is looked up by its digest in the snapshot
 * that this process holds: no database, no waiting, and no way for one key to be taken for another.
 */
import type { KeyEntry } from '../channel.ts';
import { GatewayError } from '../errors.ts';
import { digestKey, isWellFormedKey } from '../keys/gateway-key.ts';
import type { KeySnapshot } from '../keys/key-snapshot.ts';

/** The snapshot of this process; null until one was loaded. */
export interface KeyHolder {
  snapshot: KeySnapshot | null;
  /**
   * The good key that came last on each client connection, with its digest: a client sends the same one in every call,
   * and hashing it was a fiftieth of a call's cost. It is held no longer than the connection, and whether the key is
   * still good is asked of the snapshot every time.
   */
  readonly lastOf: WeakMap<object, SeenKey>;
}

interface SeenKey {
  readonly text: string;
  readonly digest: string;
}

/** `connection` is the client's. */
export function authenticate(key: string | undefined, holder: KeyHolder, connection: object, nowMs: number): KeyEntry {
  const seen = holder.lastOf.get(connection);
  if (seen !== undefined && seen.text === key) return findKey(seen.digest, holder, nowMs);
  if (key === undefined || key.trim() === '') throw new GatewayError('key_missing');
  const text = key.trim();
  if (!isWellFormedKey(text)) throw new GatewayError('key_malformed');
  const digest = digestKey(text);
  const entry = findKey(digest, holder, nowMs);
  holder.lastOf.set(connection, { text, digest });
  return entry;
}

/** Throws when the key is not good now, also one that was when its call began. */
export function findKey(digest: string, holder: KeyHolder, nowMs: number): KeyEntry {
  if (holder.snapshot === null) throw new GatewayError('not_ready');
  const entry = holder.snapshot.keys.get(digest);
  if (entry === undefined) throw new GatewayError('key_unknown');
  if (entry.revoked) throw new GatewayError('key_revoked');
  if (entry.expiresAtMs !== null && entry.expiresAtMs <= nowMs) throw new GatewayError('key_expired');
  return entry;
}
