/** The models, providers, keys and promoted metadata of runs, from their calls. */
import type pg from 'pg';
import { MAX_VALUE_CHARACTERS } from './run-aggregate.ts';
import type { RunRow } from './run-row.ts';

export interface RunUses {
  readonly models: string[];
  readonly providers: string[];
  readonly key_ids: number[];
  /** Values of promoted keys; an array when calls differ. */
  readonly metadata: Record<string, string | string[]>;
}

const MAX_MODELS = 5;
const MAX_METADATA_VALUES = 5;
/** Bounds the values read for each facet of a run. */
const MAX_VALUES = 20;
/** The calls read for one page; of each run no more than its share, since a run hardly uses more later. */
const MAX_CALLS = 10_000;
const MAX_CALLS_OF_EACH = 200;
const METADATA = 'metadata.';

export const NO_USES: RunUses = { models: [], providers: [], key_ids: [], metadata: {} };

/**
 * SQL for the values that runs used and in how many calls, with the values of `bindRuns`. What calls had that retention
 * has dropped is kept in `llm_run_facets`.
 */
export const USES_OF_RUNS = `
  select trace_id, facet, value, sum(calls)::int8 as calls from (
    select runs.trace_id, used.facet, used.value, sum(call.calls)::int8 as calls
    from unnest($2::text[], $3::timestamptz[], $4::timestamptz[]) runs (trace_id, started_at, ended_at),
      lateral (
        select coalesce(model, model_requested) as model, provider, key_id, indexed_metadata, count(*) as calls from (
          select model, model_requested, provider, key_id, indexed_metadata from llm_requests q
          where q.account_id = $1 and q.trace_id = runs.trace_id and q.requested_at between runs.started_at and runs.ended_at
          limit $5
        ) some_calls group by 1, 2, 3, 4
      ) call,
      lateral (
        values ('model', left(model, ${MAX_VALUE_CHARACTERS})), ('provider', provider), ('key', key_id::text)
        union all
        select '${METADATA}' || m.key, left(m.value, ${MAX_VALUE_CHARACTERS}) from jsonb_each_text(indexed_metadata) m
      ) used (facet, value)
    where used.value is not null group by 1, 2, 3
    union all
    select trace_id, facet, value, calls from llm_run_facets where account_id = $1 and trace_id = any($2) and is_history
  ) all_uses group by 1, 2, 3`;

/** The values that `USES_OF_RUNS` is asked with. */
export function bindRuns(accountId: number, runs: readonly RunRow[]): unknown[] {
  return [
    accountId,
    runs.map((run) => run.trace_id),
    runs.map((run) => run.started_at),
    runs.map((run) => run.ended_at),
    callsOfEach(runs),
  ];
}

function callsOfEach(runs: readonly RunRow[]): number {
  let most = Math.max(MAX_CALLS_OF_EACH, Math.floor(MAX_CALLS / Math.max(1, runs.length)));
  while (most > 1 && runs.reduce((sum, { calls }) => sum + Math.min(calls, most), 0) > MAX_CALLS)
    most = Math.ceil(most / 2);
  return most;
}

const FACETS = `
  select trace_id, facet, array_agg(value order by place) as values
  from (
    select trace_id, facet, value, row_number() over (partition by trace_id, facet order by calls desc, value) as place
    from (${USES_OF_RUNS}) uses
  ) ranked
  where place <= ${MAX_VALUES}
  group by trace_id, facet
  order by facet`;

interface FacetRow {
  readonly trace_id: string;
  readonly facet: string;
  readonly values: string[];
}

function toUses(facets: readonly FacetRow[]): RunUses {
  const valuesOf = (facet: string): string[] => facets.find((row) => row.facet === facet)?.values ?? [];
  const metadata = facets
    .filter((row) => row.facet.startsWith(METADATA))
    .map(({ facet, values: [first = '', ...others] }): [string, string | string[]] => [
      facet.slice(METADATA.length),
      others.length === 0 ? first : [first, ...others].slice(0, MAX_METADATA_VALUES),
    ]);
  return {
    models: valuesOf('model').slice(0, MAX_MODELS),
    providers: valuesOf('provider'),
    key_ids: valuesOf('key').map(Number),
    metadata: Object.fromEntries(metadata),
  };
}

/** Keyed by trace id; runs without an ended call are absent. */
export async function readRunUses(
  client: pg.Pool | pg.ClientBase,
  accountId: number,
  runs: readonly RunRow[],
): Promise<ReadonlyMap<string, RunUses>> {
  if (runs.length === 0) return new Map();
  const { rows } = await client.query<FacetRow>(FACETS, bindRuns(accountId, runs));
  return new Map([...Map.groupBy(rows, (row) => row.trace_id)].map(([traceId, facets]) => [traceId, toUses(facets)]));
}

const OPEN_USES = `
  select trace_id, array_agg(distinct model_requested) filter (where model_requested is not null) as models,
    array_agg(distinct provider) as providers, array_agg(distinct key_id) as key_ids
  from llm_open_calls where account_id = $1 and trace_id = any($2::text[]) group by trace_id`;

/** The same for the open calls of runs, by trace id. */
export async function readBegunRunUses(
  client: pg.Pool | pg.ClientBase,
  accountId: number,
  traceIds: readonly string[],
): Promise<ReadonlyMap<string, RunUses>> {
  const { rows } = await client.query<{
    trace_id: string;
    models: string[] | null;
    providers: string[];
    key_ids: number[];
  }>(OPEN_USES, [accountId, traceIds]);
  return new Map(
    rows.map((row) => [
      row.trace_id,
      {
        models: (row.models ?? []).slice(0, MAX_MODELS),
        providers: row.providers.slice(0, MAX_VALUES),
        key_ids: row.key_ids.slice(0, MAX_VALUES),
        metadata: {},
      },
    ]),
  );
}
