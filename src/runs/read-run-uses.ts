/** What runs used: models, providers, keys and promoted metadata, from the facets that are kept of them. */
import type pg from 'pg';

export interface RunUses {
  /** By calls, most first. */
  readonly models: readonly string[];
  readonly providers: readonly string[];
  readonly key_ids: readonly number[];
  /** Promoted keys: the value, or some when calls differ. */
  readonly metadata: Readonly<Record<string, string | readonly string[]>>;
}

const MAX_MODELS = 5;
const MAX_METADATA_VALUES = 5;
/** Of each facet of a run. */
const MAX_VALUES = 20;
const METADATA = 'metadata.';

export const NO_USES: RunUses = { models: [], providers: [], key_ids: [], metadata: {} };

const FACETS = `
  select trace_id, facet, array_agg(value order by place) as values
  from (
    select trace_id, facet, value, row_number() over (partition by trace_id, facet order by calls desc, value) as place
    from llm_run_facets where account_id = $1 and trace_id = any($2::text[])
  ) ranked
  where place <= ${MAX_VALUES}
  group by trace_id, facet
  order by facet`;

interface FacetRow {
  readonly trace_id: string;
  readonly facet: string;
  readonly values: readonly string[];
}

function toUses(facets: readonly FacetRow[]): RunUses {
  const valuesOf = (facet: string): readonly string[] => facets.find((row) => row.facet === facet)?.values ?? [];
  const metadata = facets
    .filter((row) => row.facet.startsWith(METADATA))
    .map(({ facet, values: [first = '', ...others] }): [string, string | readonly string[]] => [
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

/** By trace id; a run of which no call has ended is not among them. */
export async function readRunUses(
  client: pg.Pool | pg.ClientBase,
  accountId: number,
  traceIds: readonly string[],
): Promise<ReadonlyMap<string, RunUses>> {
  const { rows } = await client.query<FacetRow>(FACETS, [accountId, traceIds]);
  return new Map([...Map.groupBy(rows, (row) => row.trace_id)].map(([traceId, facets]) => [traceId, toUses(facets)]));
}

const OPEN_USES = `
  select trace_id, array_agg(distinct model_requested) filter (where model_requested is not null) as models,
    array_agg(distinct provider) as providers, array_agg(distinct key_id) as key_ids
  from llm_open_calls where account_id = $1 and trace_id = any($2::text[]) group by trace_id`;

/** The same of calls that are open, by name. */
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
