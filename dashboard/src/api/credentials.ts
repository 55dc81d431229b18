/** Credentials of providers that the gateway keeps. */
import { queryOptions } from '@tanstack/react-query';
import type { ApiAnswer } from '../../../src/control/admin/api-types.ts';
import { getJson, sendJson } from './client.ts';

export type KeptCredential = ApiAnswer<'get', '/credentials'>['data'][number];

export const credentialsQuery = queryOptions({
  queryKey: ['credentials'],
  queryFn: ({ signal }) => getJson('/credentials', {}, signal),
});

export function setCredential(provider: string, alias: string, value: string) {
  return sendJson('put', '/credentials/{provider}/{alias}', { provider, alias }, { value });
}

export function deleteCredential(provider: string, alias: string) {
  return sendJson('delete', '/credentials/{provider}/{alias}', { provider, alias });
}
