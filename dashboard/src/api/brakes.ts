/** Brakes: their rules, what they have hit, and what is paused. */
import { queryOptions } from '@tanstack/react-query';
import type { ApiAnswer } from '../../../src/control/admin/api-types.ts';
import { getJson, sendJson } from './client.ts';

export type BrakeHit = ApiAnswer<'get', '/brakes/hits'>['data'][number];
export type BrakeRule = ApiAnswer<'get', '/brakes'>['data'][number];

/** Also of what is under it: all that brakes say. */
export const BRAKES_KEY = ['brakes'] as const;
const SHOWN_HITS = 50;

export const brakeRulesQuery = queryOptions({
  queryKey: [...BRAKES_KEY, 'rules'],
  queryFn: ({ signal }) => getJson('/brakes', {}, signal),
});

export const brakeHitsQuery = queryOptions({
  queryKey: [...BRAKES_KEY, 'hits'],
  queryFn: ({ signal }) => getJson('/brakes/hits', { limit: SHOWN_HITS }, signal),
});

export const pausesQuery = queryOptions({
  queryKey: [...BRAKES_KEY, 'paused'],
  queryFn: ({ signal }) => getJson('/brakes/hits', { paused: 'true', limit: 200 }, signal),
});

export function hitsOfRunQuery(trace: string) {
  return queryOptions({
    queryKey: [...BRAKES_KEY, 'run', trace],
    queryFn: ({ signal }) => getJson('/brakes/hits', { scope: 'run', value: trace, limit: 5 }, signal),
  });
}

export function resumeHit(id: number) {
  return sendJson('post', '/brakes/hits/{id}/resume', { id });
}

export function pauseByHand(scope: BrakeHit['scope'], value: string, reason: string) {
  return sendJson('post', '/brakes/pauses', {}, { scope, value, ...(reason === '' ? {} : { reason }) });
}

export function changeRule(
  { rule, scope }: BrakeRule,
  change: { readonly action: BrakeRule['action']; readonly settings: Readonly<Record<string, number>> },
) {
  return sendJson('put', '/brakes/{rule}/{scope}', { rule, scope }, change);
}
