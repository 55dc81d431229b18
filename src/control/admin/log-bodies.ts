/** The schemas and types of answers about the log. */
import { z } from '@hono/zod-openapi';
import { logDetailShape, logRowShape } from '../log/log-schema.ts';
import { Money, searchedListOf, Time, Tokens } from './schemas.ts';

const SnippetBody = z
  .object({
    prompt: z.string().describe('The beginning of the last message of the user, in one line of at most 120 characters'),
    answer: z.string().describe('The beginning of the answer, or of the call of a tool where there is no text'),
  })
  .nullable()
  .describe('Null where the text of the call is not kept');

const MatchBody = z
  .object({
    in: z.string().describe('A column of the log, `metadata.Key`, `prompt` or `answer`'),
    text: z.string().describe('The match with about 60 characters on either side, in one line; cut parts are "…"'),
    start: z.number().int().describe('Where in `text` the match begins, in UTF-16 units'),
    length: z.number().int(),
  })
  .openapi('SearchMatch');

export const LogRecordBody = z
  .object({
    ...logRowShape(),
    snippet: SnippetBody,
    matches: z
      .array(MatchBody)
      .describe('The first place in each part of the call, at most five; one in a very long text may be missing'),
  })
  .partial()
  .openapi('LogRecord', {
    description: 'One call. Money is decimal text, null means "not reported" or "not known", never zero.',
  });

export const LogPageBody = searchedListOf(LogRecordBody);

export const OpenLogsBody = z.object({
  data: z.array(LogRecordBody).describe('What is known at the beginning of a call; other columns are left out'),
  total: z.number().int().describe('All that match; data may have fewer'),
});

export const LogDetailBody = z.object(logDetailShape()).openapi('LogDetail', {
  description: 'One call. An open one has the columns that are known at its beginning, and null in the others.',
});

export const Errors = z.number().int().describe('Calls whose outcome is neither ok nor client_closed');
export const UnpricedCalls = z
  .number()
  .int()
  .describe('Calls without a total: while there are any, total_cost means "at least"');
export const TokenSums = {
  input_tokens: Tokens.describe('Uncached input; what was not reported adds nothing'),
  cache_read_input_tokens: Tokens,
  cache_creation_input_tokens: Tokens,
  output_tokens: Tokens,
  reasoning_tokens: Tokens.describe('A part of output_tokens'),
} as const;

export const CallSums = {
  calls: z.number().int(),
  errors: Errors,
  client_closed_calls: z
    .number()
    .int()
    .describe('Calls whose client went before it had its answer, with closed_before'),
  unpriced_calls: UnpricedCalls,
  total_cost: Money,
  ...TokenSums,
} as const;

export const BucketMs = z.number().int().describe('Width of a bucket; they start at multiples of it since 1970, UTC');
export const PercentileMs = z.number().int().nullable().describe('Within 1 %. Null when nothing has a duration');

export const CallPercentiles = {
  p50_duration_ms: PercentileMs,
  p95_duration_ms: PercentileMs,
  p99_duration_ms: PercentileMs,
  p50_first_token_ms: PercentileMs,
  p95_first_token_ms: PercentileMs,
  p99_first_token_ms: PercentileMs,
  p50_tokens_per_second: z
    .number()
    .nullable()
    .describe('Median of output tokens by second of duration, over the calls that have both; within 1 %'),
} as const;

export const SearchedTo = Time.nullable().describe(
  'Null when all calls of the window are in the answer. Else only those at or after this time are, since `wait_ms` was over: ask again with a longer one, or for the calls before with this as `to`',
);

export const LogSummaryBody = z
  .object({
    ...CallSums,
    ...CallPercentiles,
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
    source: z.enum(['hourly', 'records']).describe('Where it was read: the roll-up by hour, or the calls'),
    searched_to: SearchedTo,
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
    scanned_calls: z.number().int().describe('Calls that were counted: the newest that match, at most 5,000'),
    is_sampled: z.boolean().describe('There are more calls that match'),
  })
  .openapi('LogFacets');
export type LogFacetsBody = z.infer<typeof LogFacetsBody>;
