/** The limits of the account and of the values of metadata keys. Those of a key are fields of the key. */
import { queryOptions } from '@tanstack/react-query';
import type { ApiAnswer } from '../../../src/control/admin/api-types.ts';
import { getJson, sendJson } from './client.ts';

export type CallLimit = ApiAnswer<'get', '/limits'>['data'][number];

/** Null: any number. */
export interface Limits {
  readonly max_concurrent: number | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
}

export const limitsQuery = queryOptions({
  queryKey: ['limits'],
  queryFn: ({ signal }) => getJson('/limits', {}, signal),
});

export function createLimit(limit: Limits & Pick<CallLimit, 'metadata_key' | 'metadata_value'>) {
  return sendJson('post', '/limits', {}, limit);
}

export function editLimit(id: number, limits: Limits) {
  return sendJson('patch', '/limits/{id}', { id }, limits);
}

export function deleteLimit(id: number) {
  return sendJson('delete', '/limits/{id}', { id });
}
