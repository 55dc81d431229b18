/**
 * Takes calls back out of the log. Every roll-up is fed with them as calls that count backwards, by the statement that
 * feeds it with new ones; what cannot be taken back so (first and last times) is read anew from the calls that are left.
 */
import type pg from 'pg';
import { FACET_COLUMNS, facetAggregate, RUN_COLUMNS, runAggregate } from '../runs/run-aggregate.ts';
import { COPY_COLUMNS } from '../store/copy-text.ts';
import { DELETE_REVISIONS, DROP_EMPTY_COSTS, DROP_EMPTY_ROLLUPS, INSERT_ROWS } from './ingest-statements.ts';

export interface CallsOfKey {
  readonly accountId: number;
  readonly keyId: number;
  /** All its calls are in here, both ends included: other days are not read. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** In a transaction of a connection that has the staging tables. */
export async function removeCalls(client: pg.ClientBase, calls: CallsOfKey): Promise<number> {
  const { accountId, keyId, fromMs, toMs } = calls;
  const { rowCount } = await client.query(TAKE_OUT_CALLS, [accountId, keyId, new Date(fromMs), new Date(toMs)]);
  if (rowCount !== 0) {
    // No new rows are staged: this only takes back.
    await client.query(INSERT_ROWS);
    for (const statement of [
      DELETE_BODIES,
      DELETE_CLAIMS,
      DELETE_REVISIONS,
      DELETE_EMPTY_RUNS,
      DROP_EMPTY_ROLLUPS,
      DROP_EMPTY_COSTS,
      MEND_RUNS,
      MEND_FACETS,
    ])
      await client.query(statement);
  }
  await client.query(DELETE_HISTORY, [accountId, String(keyId)]);
  return rowCount ?? 0;
}

const TAKE_OUT_CALLS = `
  with removed as (
    delete from llm_requests
    where account_id = $1 and key_id = $2 and requested_at between $3 and $4
    returning ${COPY_COLUMNS}
  )
  insert into ingest_removed select * from removed`;

const DELETE_BODIES = `
  delete from llm_bodies b using ingest_removed r where b.id = r.id and b.requested_at = r.requested_at`;

const DELETE_CLAIMS = `delete from llm_billed_results b using ingest_removed r where b.request_id = r.id`;

/** With them goes what is history of them. */
const DELETE_EMPTY_RUNS = `
  with gone as (
    delete from llm_runs r using ingest_removed x
    where r.account_id = x.account_id and r.trace_id = x.trace_id and r.calls = 0
    returning r.account_id, r.trace_id
  )
  delete from llm_run_facets f using gone where f.account_id = gone.account_id and f.trace_id = gone.trace_id`;

/** All calls of the runs that lost some and have others left. */
const LEFT_CALLS = `(
    select 1 as sign, q.* from llm_requests q
    join (select distinct account_id, trace_id from ingest_removed where trace_id is not null) x
      using (account_id, trace_id)
  ) left_calls`;

const MEND_RUNS = `
  with remaining (${RUN_COLUMNS}) as (${runAggregate(LEFT_CALLS)})
  update llm_runs r set started_at = l.started_at, ended_at = l.ended_at
  from remaining l where (r.account_id, r.trace_id) = (l.account_id, l.trace_id)`;

const MEND_FACETS = `
  with remaining (${FACET_COLUMNS}) as (${facetAggregate(LEFT_CALLS)})
  update llm_run_facets f set last_activity_at = l.last_activity_at
  from remaining l
  where (f.account_id, f.facet, f.value, f.trace_id) = (l.account_id, l.facet, l.value, l.trace_id)`;

/** Runs of which retention had dropped every call, and that no other key had a part in. */
const DELETE_HISTORY = `
  with gone as (
    delete from llm_runs r using llm_run_facets f
    where f.account_id = $1 and f.facet = 'key' and f.value = $2
      and r.account_id = f.account_id and r.trace_id = f.trace_id and r.is_history
      and not exists (
        select from llm_run_facets o
        where o.account_id = f.account_id and o.trace_id = f.trace_id and o.facet = 'key' and o.value <> f.value
      )
    returning r.account_id, r.trace_id
  )
  delete from llm_run_facets f using gone where f.account_id = gone.account_id and f.trace_id = gone.trace_id`;
