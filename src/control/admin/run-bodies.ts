/** The schemas and types of answers about runs. */
import { z } from '@hono/zod-openapi';
import { RUN_STATES } from '../log/run-row.ts';
import { BucketMs, CallSums, Errors, PercentileMs, SearchedTo, TokenSums } from './log-bodies.ts';
import { Money, Time } from './schemas.ts';

const RunSums = {
  trace_id: z.string(),
  state: z
    .enum(RUN_STATES)
    .describe(
      'running while a call is open; else errors when a call failed; else client_closed when the clients of all calls went before they had their answers; else ok',
    ),
  open_calls: z.number().int().describe('Calls that have not ended yet; in no sum'),
  ...CallSums,
  started_at: Time.describe('Earliest requested_at'),
  ended_at: Time.describe('Latest responded_at; latest requested_at while no call has ended'),
  duration_ms: z.number().int(),
  cut_at: Time.nullable().describe(
    'When retention last dropped calls of the run, null if never: sums are of the calls that are left, or of all it had when none is',
  ),
} as const;

/** What the first calls of a run have: 10,000 of one run, else 200 of each on a page of 50. */
const RunUses = {
  models: z
    .array(z.string())
    .describe('Served, else requested; the five with most calls, of the first calls of a long run'),
  providers: z.array(z.string()).describe('By calls'),
  key_ids: z.array(z.number().int()).describe('By calls, at most 20'),
  metadata: z
    .record(z.string(), z.union([z.string(), z.array(z.string())]))
    .describe('Promoted keys: the value, or up to five when calls differ'),
} as const;

export const RunBody = z
  .object({
    ...RunSums,
    ...RunUses,
    top_step: z
      .object({ name: z.string(), total_cost: Money, share: z.number().describe('Of the cost of the run, 0 to 1') })
      .nullable()
      .describe('The outermost step with the most cost; null when no step has any, or the run is too large for a list'),
    shape: z
      .array(z.number().int())
      .describe(
        'Calls active in each of at most 40 equal parts of the time of the run; empty when it is too large for a list',
      ),
    shape_errors: z.array(z.number().int()).describe('For each of these parts 1 when a call failed in it, else 0'),
  })
  .openapi('Run');
export type RunBody = z.infer<typeof RunBody>;

export const StepBody = z
  .object({
    span_key: z
      .string()
      .describe('Canonical path: names encoded and joined with "/"; empty for the calls that are in no step'),
    names: z.array(z.string()).describe('Decoded names, outermost first; empty for the calls that are in no step'),
    calls: z.number().int().describe('Calls in this step and beneath'),
    own_calls: z.number().int().describe('Calls made directly in this step'),
    errors: z.number().int(),
    total_cost: Money.describe('Of all calls beneath'),
    own_cost: Money.describe('Of the calls made directly in this step'),
    unpriced_calls: z.number().int(),
    ...TokenSums,
    started_at: Time,
    ended_at: Time,
  })
  .openapi('Step');
export type StepBody = z.infer<typeof StepBody>;

export const RunWithStepsBody = z
  .object({
    ...RunSums,
    ...RunUses,
    steps: z
      .array(StepBody)
      .describe(
        'Every step, and the calls in no step as one more, by first start: the outermost ones add up to the run, and so do all own costs',
      ),
    steps_cut: z.boolean().describe('There are more than 20,000 steps, and these are the earliest'),
  })
  .openapi('RunWithSteps');
export type RunWithStepsBody = z.infer<typeof RunWithStepsBody>;

export const RunSummaryBody = z
  .object({
    runs: z.number().int(),
    runs_with_errors: z.number().int(),
    ...CallSums,
    p50_duration_ms: PercentileMs,
    p95_duration_ms: PercentileMs,
    buckets: z
      .array(
        z.object({
          start: Time,
          runs: z.number().int().describe('By ended_at'),
          errors: Errors,
          total_cost: Money,
        }),
      )
      .describe('All of the window in order, empty ones included; at most 120'),
    bucket_ms: BucketMs,
    searched_to: SearchedTo.describe('As of the sums over calls, but about the latest activity of runs'),
  })
  .openapi('RunSummary');
export type RunSummaryBody = z.infer<typeof RunSummaryBody>;

export const RunFacetsBody = z
  .object({
    data: z.array(
      z.object({
        facet: z.string().describe('model, provider, key, or metadata.Key of a promoted key'),
        values: z
          .array(z.object({ value: z.string(), runs: z.number().int() }))
          .describe('The most frequent values, at most 20'),
      }),
    ),
    scanned_runs: z.number().int().describe('Runs that were counted: the latest that match, at most 500'),
    is_sampled: z.boolean().describe('There may be more runs that match'),
  })
  .openapi('RunFacets');
export type RunFacetsBody = z.infer<typeof RunFacetsBody>;

export const RunGroupsBody = z
  .object({
    data: z
      .array(
        z.object({
          value: z.string().nullable().describe('Null: not set'),
          runs: z.number().int().describe('Runs with a call in the group; a run may be in several'),
          ...CallSums,
          is_rest: z.boolean().describe('All other groups together'),
        }),
      )
      .describe('The 100 groups with the most cost, and the rest as one more row'),
    searched_to: SearchedTo,
    runs_searched_to: Time.nullable().describe(
      'Runs without a call since then are not in `runs`, which is in no roll-up; null: all are',
    ),
  })
  .openapi('RunGroups');
export type RunGroupsBody = z.infer<typeof RunGroupsBody>;
