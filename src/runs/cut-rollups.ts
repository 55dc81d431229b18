/**
 * What retention does to the roll-ups of the runs that had calls in a day that is dropped: with calls left they become
 * the aggregate over those, without any they are history and show what they were. The hours of the day go with it, and what
 * its calls cost before they were priced again. It drops no record itself.
 */
import type pg from 'pg';
import type { LogDay } from '../store/retention.ts';
import {
  AGGREGATED_COLUMNS,
  FACET_COLUMNS,
  facetAggregate,
  RUN_COLUMNS,
  runAggregate,
  SUMMED_COLUMNS,
} from './run-aggregate.ts';

/** In the transaction that drops the day, while nobody can write to the log. */
export async function cutRollups(client: pg.ClientBase, day: LogDay): Promise<void> {
  await client.query(stageDay(day));
  await client.query(CUT_FACETS);
  await client.query(CUT_RUNS);
  // A day begins and ends with an hour (UTC).
  await client.query('delete from llm_cost_hourly where hour >= $1 and hour < $2', [day.from, day.to]);
  await client.query('delete from llm_metadata_hourly where hour >= $1 and hour < $2', [day.from, day.to]);
  await client.query('delete from cost_revisions where requested_at >= $1 and requested_at < $2', [day.from, day.to]);
}

/**
 * What goes, by run and by facet, and the calls that are left to these runs. A run's own times say whether it can have
 * any, and in which days; the `offset 0` keeps the look-up by run, so that other days are not read at all.
 */
function stageDay({ partition, from, to }: LogDay): string {
  const columns = AGGREGATED_COLUMNS.join(', ');
  const calls = `(select 1 as sign, ${columns} from ${partition}) calls`;
  return `
    create temp table cut_runs (${RUN_COLUMNS}) on commit drop as ${runAggregate(calls)};
    create temp table cut_facets (${FACET_COLUMNS}) on commit drop as ${facetAggregate(calls)};
    analyze cut_runs;
    analyze cut_facets;
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
    analyze cut_left;`;
}

const CUT_FACETS = `
  with remaining (${FACET_COLUMNS}) as (${facetAggregate('cut_left')})
  update llm_run_facets f set
    is_history = l.trace_id is null,
    calls = coalesce(l.calls, f.calls),
    last_activity_at = coalesce(l.last_activity_at, f.last_activity_at)
  from cut_facets c left join remaining l using (account_id, facet, value, trace_id)
  where (f.account_id, f.facet, f.value, f.trace_id) = (c.account_id, c.facet, c.value, c.trace_id)`;

const RUN_VALUES = [...SUMMED_COLUMNS, 'started_at', 'ended_at'];

/** `dropped`: what this day takes, added to what earlier days took. When nothing is left, that is the whole run. */
const CUT_RUNS = `
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
