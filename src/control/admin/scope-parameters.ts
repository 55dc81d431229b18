/** The parameters that select calls or runs. */
import { z } from '@hono/zod-openapi';
import { BUCKET_WIDTH_NAMES } from '../log/bucket-width.ts';
import { type LogFilter, parseLogFilter } from '../log/log-filter.ts';
import type { LogScope } from '../log/log-scope.ts';
import type { RunScope } from '../log/run-conditions.ts';
import { parseRunFilters } from '../log/run-filter.ts';
import type { TimeWindow } from '../log/summarise-logs.ts';
import { WALK_LIMITS, type WalkLimits } from '../log/walk-window.ts';
import { ApiError } from './api-error.ts';
import { FilterParameter, TimeParameter, toDate } from './schemas.ts';

const MAX_SEARCH_CHARS = 500;

export function searchParameter(where: string) {
  return z
    .string()
    .max(MAX_SEARCH_CHARS)
    .refine((text) => !text.includes('\0'), 'a search has no U+0000')
    .optional()
    .describe(`Free text, in any case, contained in ${where}`);
}

export const FilterQuery = z.strictObject({
  f: FilterParameter,
  q: searchParameter(
    'span_name, model, model_requested, error_message, path, trace_id, client, error_type, a metadata value, or the kept text of a prompt or an answer; or the whole id or provider_request_id',
  ),
  q_texts: z
    .enum(['true', 'false'])
    .optional()
    .describe('`false` leaves the kept texts of prompts and answers out of what `q` looks into'),
  exclude_runs: z.enum(['true', 'false']).default('false').describe('`true` leaves out the calls that belong to runs'),
});

export const LogScopeQuery = FilterQuery.extend({
  from: TimeParameter.optional().describe('`requested_at` at or after this time'),
  to: TimeParameter.optional().describe('`requested_at` before this time'),
});

export const RunFilterParameter = FilterParameter.describe(
  'Repeatable. `run.column:op:value` is about the run: trace_id, state, calls, open_calls, errors, client_closed_calls, unpriced_calls, total_cost, duration_ms, started_at, ended_at or a sum of tokens. Any other is as in the list of calls, and holds when one call of the run matches all of these.',
);

export const RunSearchParameter = searchParameter('the trace id or the span name of a call of the run');

export const RunScopeQuery = z.strictObject({
  f: RunFilterParameter,
  q: RunSearchParameter,
  from: TimeParameter.optional().describe('`ended_at` at or after this time'),
  to: TimeParameter.optional().describe('`ended_at` before this time'),
});

export const IntervalParameter = z
  .enum(BUCKET_WIDTH_NAMES)
  .optional()
  .describe('Least width of a bucket; without it, and where it would make more than 120, the gateway chooses');

const MAX_WAIT_MS = 15_000;

export const WaitParameter = z.coerce
  .number()
  .int()
  .min(1)
  .max(MAX_WAIT_MS)
  .default(WALK_LIMITS.budgetMs)
  .describe('How long calls are read where no roll-up answers, in milliseconds; at most 15,000');

export function walkLimitsOf(waitMs: number): WalkLimits {
  return { ...WALK_LIMITS, budgetMs: waitMs };
}

export function textsOf(f: string | readonly string[] | undefined): readonly string[] {
  return f === undefined ? [] : typeof f === 'string' ? [f] : f;
}

export function filtersOf(f: string | readonly string[] | undefined): readonly LogFilter[] {
  return textsOf(f).map(parseLogFilter);
}

export function searchOf(q: string | undefined): string | null {
  return q === undefined || q === '' ? null : q;
}

export function logScopeOf(accountId: number, query: z.infer<typeof LogScopeQuery>): LogScope {
  return {
    accountId,
    filters: filtersOf(query.f),
    search: searchOf(query.q),
    searchesTexts: query.q_texts !== 'false',
    from: toDate(query.from),
    to: toDate(query.to),
    excludeRuns: query.exclude_runs === 'true',
  };
}

export function runScopeOf(accountId: number, query: z.infer<typeof RunScopeQuery>): RunScope {
  return {
    accountId,
    ...parseRunFilters(textsOf(query.f)),
    search: searchOf(query.q),
    from: toDate(query.from),
    to: toDate(query.to),
  };
}

export function windowOf(scope: { readonly from: Date | null; readonly to: Date | null }): TimeWindow {
  const { from, to } = scope;
  if (from === null || to === null || from >= to)
    throw new ApiError(400, 'invalid_request', 'Give `from` and `to`, where `to` is later.');
  return { from, to };
}
