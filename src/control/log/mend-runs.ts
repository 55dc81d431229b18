/**
 * What is left of runs that calls were taken from. Each `source` is a relation with `account_id` and `trace_id` of what
 * was taken; roll-ups have subtracted it already, and first and last times are read again from the remaining calls.
 */
import { RUN_COLUMNS, runAggregate } from './run-aggregate.ts';

/** In this order. */
export function mendRunStatements(source: string): readonly string[] {
  const left = `(
    select 1 as sign, q.* from llm_requests q
    join (select distinct account_id, trace_id from ${source} where trace_id is not null) x using (account_id, trace_id)
  ) left_calls`;
  return [
    `with gone as (
      delete from llm_runs r using (select distinct account_id, trace_id from ${source}) x
      where r.account_id = x.account_id and r.trace_id = x.trace_id and r.calls = 0
      returning r.account_id, r.trace_id
    )
    delete from llm_run_facets f using gone where f.account_id = gone.account_id and f.trace_id = gone.trace_id`,
    `with remaining (${RUN_COLUMNS}) as (${runAggregate(left)})
    update llm_runs r set started_at = l.started_at, ended_at = l.ended_at
    from remaining l where (r.account_id, r.trace_id) = (l.account_id, l.trace_id)`,
  ];
}
