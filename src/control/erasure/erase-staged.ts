/**
 * Erases what calls say, and keeps what they cost: texts and bodies go, metadata, places, names and addresses are emptied in
 * the row, which stays with the flag `erased`. So every sum stays as it is; what was counted by metadata is taken back.
 */
import type pg from 'pg';
import { FACET_SOURCE_COLUMNS } from '../log/call-facets.ts';
import { insertCostDeltas } from '../log/cost-hourly.ts';
import { addSourceToFacets } from '../log/facet-deltas.ts';
import { insertMetadataDeltas } from '../log/metadata-hourly.ts';

const STAGE = 'erased_calls';
/** The calls as roll-ups read them: taken out as they were, added as they are. */
const CHANGED = 'erased_changes';

const SUMMED = FACET_SOURCE_COLUMNS.map((column) => `r.${column}`).join(', ');

export const CREATE_STAGE = `
  create temp table if not exists ${STAGE} (id uuid, requested_at timestamptz(3)) on commit delete rows;
  create temp table if not exists ${CHANGED} on commit delete rows as
    select 1 as sign, ${SUMMED} from llm_requests r with no data`;

/** Insert ids and times of calls here, in the transaction of `eraseStaged`. */
export const STAGE_COLUMNS = `${STAGE} (id, requested_at)`;

const FORGET_ERASED = `
  delete from ${STAGE} s using llm_requests r
  where r.id = s.id and r.requested_at = s.requested_at and 'erased' = any(r.flags)`;

function noteChanges(sign: 1 | -1): string {
  return `insert into ${CHANGED} select ${sign}, ${SUMMED}
    from ${STAGE} s join llm_requests r on r.id = s.id and r.requested_at = s.requested_at`;
}

/** Names of models and endpoints are no secrets of whoever called them. */
const EMPTY = `
  update llm_requests r set
    raw_metadata = '{}', indexed_metadata = '{}', error_message = null, path = '', client_address = null,
    provider_request_id = null, answer_id = null, span_path = null, span_key = null,
    span_name = coalesce(r.model_requested, r.model, r.endpoint),
    agent = null, agent_session = null, agent_path = null, agent_turn = null, native_usage = null,
    flags = r.flags || '{erased}'::text[]
  from ${STAGE} s where r.id = s.id and r.requested_at = s.requested_at`;

const DELETE_CONTENTS = ['llm_bodies', 'llm_texts'].map(
  (table) => `delete from ${table} b using ${STAGE} s where b.id = s.id and b.requested_at = s.requested_at`,
);

/** Facets of calls that retention dropped name metadata as well. */
const DELETE_RUN_FACETS = `
  delete from llm_run_facets f using (select distinct account_id, trace_id from ${CHANGED} where trace_id is not null) x
  where f.account_id = x.account_id and f.trace_id = x.trace_id and starts_with(f.facet, 'metadata.')`;

/** Returns how many of the staged calls were not erased before. */
export async function eraseStaged(client: pg.ClientBase): Promise<number> {
  await client.query(FORGET_ERASED);
  await client.query(`analyze ${STAGE}`);
  // One look-up a call by primary key: without row counts the planner reads whole days.
  await client.query('set local enable_hashjoin = off; set local enable_mergejoin = off');
  const { rowCount } = await client.query(noteChanges(-1));
  if (rowCount !== 0) {
    await client.query(EMPTY);
    await client.query(noteChanges(1));
    for (const statement of DELETE_CONTENTS) await client.query(statement);
  }
  await client.query('set local enable_hashjoin = on; set local enable_mergejoin = on');
  if (rowCount === 0) return 0;
  await addSourceToFacets(client, CHANGED);
  await client.query(insertCostDeltas(CHANGED));
  await client.query(insertMetadataDeltas(CHANGED));
  await client.query(DELETE_RUN_FACETS);
  return rowCount ?? 0;
}
