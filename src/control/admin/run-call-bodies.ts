/** The schema of a run's calls column by column, for pages that draw thousands. */
import { z } from '@hono/zod-openapi';
import { Time } from './schemas.ts';

const Text = z.array(z.string());
const MaybeText = z.array(z.string().nullable());
const MaybeNumber = z.array(z.number().int().nullable());

/** The arrays have one length; the n-th values are the n-th call. */
export const RunCallColumnsBody = z
  .object({
    id: Text,
    requested_at_ms: z.array(z.number().int()).describe('Milliseconds since 1970'),
    responded_at_ms: MaybeNumber,
    duration_ms: MaybeNumber,
    span_key: MaybeText,
    span_name: Text,
    provider: Text,
    model: MaybeText.describe('Served, else requested'),
    outcome: Text,
    status: MaybeNumber,
    error_type: MaybeText,
    total_cost: MaybeText,
    known_cost: MaybeText,
    cost_status: Text,
    input_tokens: MaybeNumber,
    cache_read_input_tokens: MaybeNumber,
    cache_creation_input_tokens: MaybeNumber,
    output_tokens: MaybeNumber,
    reasoning_tokens: MaybeNumber,
    first_token_ms: MaybeNumber,
    attempt: MaybeNumber,
    streamed: z.array(z.boolean().nullable()),
    flags: z.array(z.array(z.string())),
    error_message: MaybeText.describe('Its first 200 characters'),
  })
  .openapi('RunCallColumns');
export type RunCallColumnsBody = z.infer<typeof RunCallColumnsBody>;

/** Also the array elements of the event `open` of `GET /run/stream`. */
export const OpenCallBody = z
  .object({
    id: z.string(),
    requested_at: Time,
    span_key: z.string().nullable(),
    span_name: z.string(),
    provider: z.string(),
    model_requested: z.string().nullable(),
  })
  .openapi('OpenCall');
export type OpenCallBody = z.infer<typeof OpenCallBody>;

export const RunCallsBody = z
  .object({
    columns: RunCallColumnsBody,
    open: z.array(OpenCallBody).describe('Calls that have not ended, by requested_at, at most 2,000'),
    next_cursor: z.string().nullable(),
    position: z.string().describe('Give it as `after` to /run/stream: no call is missed, some may come twice'),
  })
  .openapi('RunCalls');
export type RunCallsBody = z.infer<typeof RunCallsBody>;
