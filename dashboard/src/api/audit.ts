/** The audit log, and what was erased on request. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { ApiAnswer } from '../../../src/control/admin/api-types.ts';
import { getJson, sendJson } from './client.ts';

const PAGE_ROWS = 50;

export type AuditEntry = ApiAnswer<'get', '/audit'>['data'][number];
export type Erasure = ApiAnswer<'get', '/erasures'>['data'][number];

export interface AuditFilter {
  readonly actor: string;
  readonly action: string;
}

export function auditQuery({ actor, action }: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ['audit', actor, action],
    queryFn: ({ pageParam, signal }) =>
      getJson('/audit', { limit: PAGE_ROWS, cursor: pageParam, actor, action }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
}

export function verifyAudit() {
  return getJson('/audit/verification', {});
}

export const erasuresQuery = queryOptions({
  queryKey: ['erasures'],
  queryFn: ({ signal }) => getJson('/erasures', {}, signal),
});

export type ErasureTarget = { readonly trace_id: string } | { readonly metadata_key: string; readonly value: string };

export function erase(target: ErasureTarget, isDryRun: boolean) {
  return sendJson('post', '/erasures', {}, { ...target, dry_run: isDryRun });
}
