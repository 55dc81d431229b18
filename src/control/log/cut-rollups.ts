/**
 * What retention does to roll-ups when a day is dropped. A run with calls left is summed up again from those; one
 * without keeps its sums as history. The day's hours and revisions are deleted.
 */
import type pg from 'pg';
import type { LogDay } from '../store/retention.ts';
import { SUMMED_COLUMNS } from './call-sums.ts';
import { HOURLY_TABLES } from './fold-rollups.ts';
import { AGGREGATED_COLUMNS, FACET_COLUMNS, facetAggregate, RUN_COLUMNS, runAggregate } from './run-aggregate.ts';

/** Runs in the transaction that drops the day, while nobody can write to the log. */
export async function cutRollups(client: pg.ClientBase, day: LogDay): Promise<void> {
  await client.query(stageDay(day));
  await client.query(CUT_RUNS);
  for (const table of HOURLY_TABLES)
    await client.query(`delete from ${table} where hour >= $1 and hour < $2`, [day.from, day.to]);
  await client.query('delete from cost_revisions where requested_at >= $1 and requested_at < $2', [day.from, day.to]);
}

/** Keeps the facets of what goes; stages what goes, by run, and the calls that these runs keep. `offset 0` keeps the look-up by run. */
function stageDay({ partition, from, to }: LogDay): string {
  const columns = AGGREGATED_COLUMNS.join(', ');
  const calls = `(select 1 as sign, ${columns} from ${partition}) calls`;
  return `
    create temp table cut_runs (${RUN_COLUMNS}) on commit drop as ${runAggregate(calls)};
    analyze cut_runs;
    create temp table cut_left on commit drop as
      select 1 as sign, left_calls.*
      from cut_runs c join llm_runs r using (account_id, trace_id) cross join lateral (
        select ${columns} from llm_requests q
        where q.account_id = r.account_id and q.trace_id = r.trace_id
          and q.requested_at between r.started_at and r.ended_at
          and (q.requested_at < '${from}' or q.requested_at >= '${to}')
        offset 0
      ) left_calls
      where r.started_at < '${from}' or r.ended_at >= '${to}';
    analyze cut_left;
    ${keepFacets(calls)}`;
}

/** Only calls say what a run uses, so what these said is kept. */
export function keepFacets(calls: string): string {
  return `
    insert into llm_run_facets as f (${FACET_COLUMNS}, is_history)
    select *, true from (${facetAggregate(calls)}) dropped
    on conflict (account_id, facet, value, trace_id) do update set
      calls = case when f.is_history then f.calls else 0 end + excluded.calls,
      last_activity_at = greatest(f.last_activity_at, excluded.last_activity_at),
      is_history = true;`;
}

const RUN_VALUES = [...SUMMED_COLUMNS, 'started_at', 'ended_at'];

/** `dropped` adds this day's sums to those of earlier days; when nothing is left, it is the whole run. */
export const CUT_RUNS = `
  with remaining (${RUN_COLUMNS}) as (${runAggregate('cut_left')}),
  dropped as (
    select account_id, trace_id,
      ${SUMMED_COLUMNS.map((column) => `c.${column} + coalesce(${cutTotal(column)}, 0) as ${column}`).join(', ')},
      least(c.started_at, ${cutTotal('started_at')}) as started_at,
      greatest(c.ended_at, ${cutTotal('ended_at')}) as ended_at
    from cut_runs c join llm_runs r using (account_id, trace_id)
  )
  update llm_runs r set
    cut_at = now(),
    cut_totals = (to_jsonb(d) - 'account_id' - 'trace_id') || jsonb_build_object('total_cost', d.total_cost::text),
    is_history = l.trace_id is null,
    ${RUN_VALUES.map((column) => `${column} = coalesce(l.${column}, d.${column})`).join(', ')}
  from dropped d left join remaining l using (account_id, trace_id)
  where (r.account_id, r.trace_id) = (d.account_id, d.trace_id)`;

function cutTotal(column: string): string {
  const type = column.endsWith('_at') ? 'timestamptz(3)' : column === 'total_cost' ? 'numeric(36,12)' : 'int8';
  return `(r.cut_totals->>'${column}')::${type}`;
}
