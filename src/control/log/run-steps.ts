/**
 * The steps of a run with their sums, by SQL; `run-tree.ts` computes the same. The calls in no step are the group of
 * the empty path, so that own costs add up to the run. The run itself is left out.
 */
import type pg from 'pg';
import { formatDatabaseMoney } from './log-record.ts';
import { decodeSpanKey } from './span-path.ts';

/** Beyond it, the earliest steps are given and the answer says so. */
const MAX_RUN_STEPS = 20_000;

interface StepRow {
  readonly span_key: string;
  readonly calls: number;
  readonly own_calls: number;
  readonly errors: number;
  readonly total_cost: string;
  readonly own_cost: string;
  readonly unpriced_calls: number;
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  readonly started_at: Date;
  readonly ended_at: Date;
}

const STEPS = `
  with own as (
    select coalesce(span_key, '') as span_key,
      count(*) as calls,
      count(*) filter (where outcome not in ('ok', 'client_closed')) as errors,
      count(*) filter (where total_cost is null) as unpriced_calls,
      sum(coalesce(total_cost, known_cost, 0)) as cost,
      coalesce(sum(input_tokens), 0) as input_tokens,
      coalesce(sum(cache_read_input_tokens), 0) as cache_read_input_tokens,
      coalesce(sum(cache_creation_input_tokens), 0) as cache_creation_input_tokens,
      coalesce(sum(output_tokens), 0) as output_tokens,
      coalesce(sum(reasoning_tokens), 0) as reasoning_tokens,
      min(requested_at) as started_at,
      max(coalesce(responded_at, requested_at)) as ended_at
    from llm_requests
    where account_id = $1 and trace_id = $2 and requested_at >= $3 and requested_at <= $4
    group by 1
  )
  select array_to_string(parts[1:depth], '/') collate "C" as span_key,
    sum(calls)::int8 as calls,
    coalesce(sum(calls) filter (where depth = cardinality(parts)), 0)::int8 as own_calls,
    sum(errors)::int8 as errors,
    sum(cost) as total_cost,
    coalesce(sum(cost) filter (where depth = cardinality(parts)), 0) as own_cost,
    sum(unpriced_calls)::int8 as unpriced_calls,
    sum(input_tokens)::int8 as input_tokens,
    sum(cache_read_input_tokens)::int8 as cache_read_input_tokens,
    sum(cache_creation_input_tokens)::int8 as cache_creation_input_tokens,
    sum(output_tokens)::int8 as output_tokens,
    sum(reasoning_tokens)::int8 as reasoning_tokens,
    min(started_at) as started_at,
    max(ended_at) as ended_at
  from own, string_to_array(span_key, '/') as parts,
    generate_series(least(1, cardinality(parts)), cardinality(parts)) as depth
  group by 1
  order by min(started_at), 1
  limit $5`;

export type RunStep = ReturnType<typeof formatStep>;

export interface RunSteps {
  readonly steps: RunStep[];
  readonly isCut: boolean;
}

/** The run's own times leave out the days that it does not touch. */
export async function listRunSteps(
  client: pg.ClientBase | pg.Pool,
  accountId: number,
  traceId: string,
  startedAt: Date,
  endedAt: Date,
): Promise<RunSteps> {
  const { rows } = await client.query<StepRow>(STEPS, [accountId, traceId, startedAt, endedAt, MAX_RUN_STEPS + 1]);
  return { steps: rows.slice(0, MAX_RUN_STEPS).map(formatStep), isCut: rows.length > MAX_RUN_STEPS };
}

function formatStep(row: StepRow) {
  return {
    ...row,
    names: [...decodeSpanKey(row.span_key)],
    total_cost: formatDatabaseMoney(row.total_cost),
    own_cost: formatDatabaseMoney(row.own_cost),
    started_at: row.started_at.toISOString(),
    ended_at: row.ended_at.toISOString(),
  };
}
