/**
 * Takes calls back out of the log: the statement that feeds roll-ups gets them with a negative sign. First and last
 * times are read again from the remaining calls.
 */
import type pg from 'pg';
import { addSourceToFacets } from '../log/facet-deltas.ts';
import { mendRunStatements } from '../log/mend-runs.ts';
import { COPY_COLUMNS } from '../store/copy-text.ts';
import { DELETE_REVISIONS, INSERT_ROWS, REMOVED_CALLS } from './ingest-statements.ts';

export interface CallsOfKey {
  readonly accountId: number;
  readonly keyId: number;
  /** All calls are within both inclusive ends; other days are not read. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Needs a transaction on a connection with the staging tables. */
export async function removeCalls(client: pg.ClientBase, calls: CallsOfKey): Promise<number> {
  const { accountId, keyId, fromMs, toMs } = calls;
  const { rowCount } = await client.query(TAKE_OUT_CALLS, [accountId, keyId, new Date(fromMs), new Date(toMs)]);
  if (rowCount !== 0) {
    // No rows are staged, so this only subtracts.
    await client.query(INSERT_ROWS);
    await addSourceToFacets(client, REMOVED_CALLS);
    for (const statement of [
      DELETE_BODIES,
      DELETE_TEXTS,
      DELETE_CLAIMS,
      DELETE_REVISIONS,
      ...mendRunStatements('ingest_removed'),
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

const DELETE_TEXTS = `
  delete from llm_texts t using ingest_removed r where t.id = r.id and t.requested_at = r.requested_at`;

const DELETE_CLAIMS = `delete from llm_billed_results b using ingest_removed r where b.request_id = r.id`;

/** Runs without calls since retention, which no other key was in. */
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
