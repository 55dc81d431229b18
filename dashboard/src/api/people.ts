/** The people of the account and its API tokens. */
import { queryOptions } from '@tanstack/react-query';
import type { ApiAnswer } from '../../../src/control/admin/api-types.ts';
import { getJson, sendJson } from './client.ts';
import type { Role } from './session.ts';

export type Person = ApiAnswer<'get', '/people'>['data'][number];
export type ApiToken = ApiAnswer<'get', '/tokens'>['data'][number];
export type Scope = ApiToken['scopes'][number];

export const peopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: ({ signal }) => getJson('/people', {}, signal),
});

export const apiTokensQuery = queryOptions({
  queryKey: ['api-tokens'],
  queryFn: ({ signal }) => getJson('/tokens', {}, signal),
});

export interface PersonRights {
  readonly role: Role;
  readonly may_read_bodies: boolean;
}

export function invitePerson(invited: PersonRights & { readonly email: string }) {
  return sendJson('post', '/people', {}, invited);
}

export function editPerson(id: number, rights: PersonRights) {
  return sendJson('patch', '/people/{id}', { id }, rights);
}

export function removePerson(id: number) {
  return sendJson('delete', '/people/{id}', { id });
}

export function createPersonLink(id: number) {
  return sendJson('post', '/people/{id}/links', { id });
}

export function signOutPerson(id: number) {
  return sendJson('post', '/people/{id}/sign-out', { id });
}

export type AccountRetention = ApiAnswer<'get', '/accounts/{id}/retention'>;

export function retentionQuery(accountId: number) {
  return queryOptions({
    queryKey: ['retention', accountId],
    queryFn: ({ signal }) => getJson('/accounts/{id}/retention', { id: accountId }, signal),
  });
}

export function changeRetention(
  accountId: number,
  days: Pick<AccountRetention, 'retention_rows' | 'retention_bodies'>,
) {
  return sendJson('put', '/accounts/{id}/retention', { id: accountId }, days);
}

export function createApiToken(token: {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expires_at?: string;
}) {
  return sendJson('post', '/tokens', {}, token);
}

export function revokeApiToken(id: number) {
  return sendJson('delete', '/tokens/{id}', { id });
}
