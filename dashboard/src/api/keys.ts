/** Gateway keys: the list, and what can be done with one. Names of keys are shown wherever a call says `key_id`. */
import { queryOptions } from '@tanstack/react-query';
import type { CreatedKey, Key, ListedKey } from '../../../src/admin/keys-resource.ts';
import { getJson, sendJson } from './client.ts';

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => getJson<{ readonly data: readonly ListedKey[] }>('/keys', {}, signal),
});

export interface NewKey {
  readonly name: string;
  readonly expires_at?: string;
  readonly bodies?: 'full' | 'off';
  readonly usage?: 'ask' | 'observe';
}

export function createKey(key: NewKey): Promise<CreatedKey> {
  return sendJson('POST', '/keys', key);
}

export function revokeKey(id: number): Promise<Key> {
  return sendJson('DELETE', `/keys/${id}`);
}

/** The old key goes on working for the overlap, so that clients can be moved one after another. */
export function rotateKey(id: number, overlapSeconds: number): Promise<CreatedKey> {
  return sendJson('POST', `/keys/${id}/rotate`, { overlap_seconds: overlapSeconds });
}
