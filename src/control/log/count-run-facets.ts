/** The models, providers, keys and promoted metadata that the latest runs of a time window used: a bounded sample. */
import type pg from 'pg';
import { listRuns } from './list-runs.ts';
import { bindRuns, USES_OF_RUNS } from './read-run-uses.ts';
import type { RunScope } from './run-conditions.ts';

const MAX_SCANNED_RUNS = 500;
const MAX_FACET_VALUES = 20;
const FIRST_FACETS: readonly string[] = ['model', 'provider', 'key'];

export interface RunFacets {
  readonly data: readonly {
    readonly facet: string;
    readonly values: readonly { readonly value: string; readonly runs: number }[];
  }[];
  readonly scanned_runs: number;
  readonly is_sampled: boolean;
}

const COUNT_RUNS = `
  select facet, value, runs from (
    select facet, value, count(distinct trace_id) as runs,
      row_number() over (partition by facet order by count(distinct trace_id) desc, value) as place
    from (${USES_OF_RUNS}) uses group by facet, value
  ) ranked where place <= ${MAX_FACET_VALUES} order by facet, place`;

interface ValueRow {
  readonly facet: string;
  readonly value: string;
  readonly runs: number;
}

export async function countRunFacets(pool: pg.Pool, scope: RunScope): Promise<RunFacets> {
  const { runs, next } = await listRuns(pool, { ...scope, sort: '-ended_at' }, null, MAX_SCANNED_RUNS);
  const scanned = runs.filter(({ calls }) => calls > 0);
  const { rows } = await pool.query<ValueRow>(COUNT_RUNS, bindRuns(scope.accountId, scanned));
  const found = Map.groupBy(rows, ({ facet }) => facet);
  const names = new Set([...FIRST_FACETS, ...found.keys()]);
  return {
    data: [...names].map((facet) => ({
      facet,
      values: (found.get(facet) ?? []).map((row) => ({ value: row.value, runs: row.runs })),
    })),
    scanned_runs: scanned.length,
    is_sampled: next !== null,
  };
}
