/** Gateway keys: the list, and what can be done with one. Names of keys are shown wherever a call says `key_id`. */
import { queryOptions } from '@tanstack/react-query';
import type { CreatedKey, Key } from '../../../src/control/admin/keys-resource.ts';
import { getJson, sendJson } from './client.ts';

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => getJson('/keys', {}, signal),
});

export interface NewKey {
  readonly name: string;
  readonly expires_at?: string;
  readonly bodies?: 'full' | 'off';
  readonly usage?: 'ask' | 'observe';
  readonly allow_in_address?: boolean;
  readonly runs_from?: string[];
}

export type KeyEdit = Partial<Pick<NewKey, 'name' | 'bodies' | 'allow_in_address' | 'runs_from'>>;

export function createKey(key: NewKey): Promise<CreatedKey> {
  return sendJson('post', '/keys', {}, key);
}

export function editKey(id: number, edit: KeyEdit): Promise<Key> {
  return sendJson('patch', '/keys/{id}', { id }, edit);
}

export function revokeKey(id: number): Promise<Key> {
  return sendJson('delete', '/keys/{id}', { id });
}

/** The old key goes on working for the overlap, so that clients can be moved one after another. */
export function rotateKey(id: number, overlapSeconds: number): Promise<CreatedKey> {
  return sendJson('post', '/keys/{id}/rotate', { id }, { overlap_seconds: overlapSeconds });
}
