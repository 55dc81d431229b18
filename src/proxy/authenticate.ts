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
}

export function authenticate(key: string | undefined, holder: KeyHolder, nowMs: number): KeyEntry {
  if (key === undefined || key.trim() === '') throw new GatewayError('key_missing');
  const text = key.trim();
  if (!isWellFormedKey(text)) throw new GatewayError('key_malformed');
  if (holder.snapshot === null) throw new GatewayError('not_ready');
  const entry = holder.snapshot.keys.get(digestKey(text));
  if (entry === undefined) throw new GatewayError('key_unknown');
  if (entry.revoked) throw new GatewayError('key_revoked');
  if (entry.expiresAtMs !== null && entry.expiresAtMs <= nowMs) throw new GatewayError('key_expired');
  return entry;
}
