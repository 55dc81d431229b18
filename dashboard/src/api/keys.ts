/** Gateway keys: the list, and what can be done with one. Names of keys are shown wherever a call says `key_id`. */
import { queryOptions } from '@tanstack/react-query';
import type { CreatedKey, GivenKey, Key } from '../../../src/control/admin/key-bodies.ts';
import { getJson, sendJson } from './client.ts';

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => getJson('/keys', {}, signal),
});

export type NewKey = GivenKey & { readonly name: string };

export function createKey(key: NewKey): Promise<CreatedKey> {
  return sendJson('post', '/keys', {}, key);
}

export function editKey(id: number, edit: GivenKey): Promise<Key> {
  return sendJson('patch', '/keys/{id}', { id }, edit);
}

export function revokeKey(id: number): Promise<Key> {
  return sendJson('delete', '/keys/{id}', { id });
}

/** The old key goes on working for the overlap, so that clients can be moved one after another. */
export function rotateKey(id: number, overlapSeconds: number): Promise<CreatedKey> {
  return sendJson('post', '/keys/{id}/rotate', { id }, { overlap_seconds: overlapSeconds });
}
