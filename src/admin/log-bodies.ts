/**
 * What the answers about the log look like: schemas for the document, and their types for who reads them. No routes.
 */
import { z } from '@hono/zod-openapi';
import type { LogRow } from '../runs/log-columns.ts';
import { Money, Time, Tokens } from './schemas.ts';

interface BodyFacts {
  readonly content_type: string | null;
  readonly content_encoding: string | null;
  readonly total_bytes: number | null;
  /** Unpacked bytes that are the head; what follows them is the tail. */
  readonly head_bytes: number | null;
}

/** `GET /logs/{id}`. */
export type LogDetailBody = LogRow & {
  readonly state: 'ended' | 'open';
  /** The kept headers as pairs, in order. */
  readonly headers: {
    readonly request: readonly (readonly [string, string])[];
    readonly response: readonly (readonly [string, string])[];
  } | null;
  readonly bodies: { readonly request: BodyFacts | null; readonly response: BodyFacts | null } | null;
  readonly previous_id: string | null;
  readonly next_id: string | null;
};

export const TokenSums = {
  input_tokens: Tokens.describe('Uncached input; what was not reported adds nothing'),
  cache_read_input_tokens: Tokens,
  cache_creation_input_tokens: Tokens,
  output_tokens: Tokens,
  reasoning_tokens: Tokens.describe('A part of output_tokens'),
} as const;

export const Errors = z.number().int().describe('Calls whose outcome is neither ok nor client_closed');
export const ClientClosedCalls = z
  .number()
  .int()
  .describe('Calls whose client went before it had its answer, with closed_before');
export const UnpricedCalls = z
  .number()
  .int()
  .describe('Calls without a total: while there are any, total_cost means "at least"');

export const BucketMs = z.number().int().describe('Width of a bucket; they start at multiples of it since 1970, UTC');
export const PercentileMs = z.number().int().nullable().describe('Null when nothing has a duration');

export const LogSummaryBody = z
  .object({
    calls: z.number().int(),
    errors: Errors,
    client_closed_calls: ClientClosedCalls,
    unpriced_calls: UnpricedCalls,
    total_cost: Money,
    ...TokenSums,
    p50_duration_ms: PercentileMs,
    p95_duration_ms: PercentileMs,
    buckets: z
      .array(
        z.object({
          start: Time,
          calls: z.number().int(),
          errors: Errors,
          total_cost: Money,
          unpriced_calls: UnpricedCalls,
        }),
      )
      .describe('All of the window in order, empty ones included; at most 120. The first and the last may be partial'),
    bucket_ms: BucketMs,
  })
  .openapi('LogSummary');
export type LogSummaryBody = z.infer<typeof LogSummaryBody>;

export const LogFacetsBody = z
  .object({
    data: z.array(
      z.object({
        column: z.string().describe('A column of the log, or `metadata.Key` of a promoted key'),
        values: z
          .array(z.object({ value: z.string(), calls: z.number().int() }))
          .describe('The most frequent values, at most 20'),
        other_calls: z.number().int().describe('Calls with another value'),
        unset_calls: z.number().int().describe('Calls without a value; all of these add up to scanned_calls'),
      }),
    ),
    scanned_calls: z.number().int().describe('Calls that were counted: the newest that match, at most 20,000'),
    is_sampled: z.boolean().describe('There are more calls that match'),
  })
  .openapi('LogFacets');
export type LogFacetsBody = z.infer<typeof LogFacetsBody>;
