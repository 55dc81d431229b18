/**
 * Retention of one account that keeps less than the gateway: partitions are shared, so its calls are deleted from them in
 * chunks. Sums and runs are left as a dropped day leaves them: a run with calls left is summed up again from those, one
 * without keeps its sums as history.
 */
import type pg from 'pg';
import { forgetIndexedDays } from '../search/forget-indexed-days.ts';
import { FACET_SOURCE_COLUMNS } from './call-facets.ts';
import { insertCostDeltas } from './cost-hourly.ts';
import { CUT_RUNS, keepFacets } from './cut-rollups.ts';
import { addSourceToFacets } from './facet-deltas.ts';
import { lockLog } from './lock-log.ts';
import { insertMetadataDeltas } from './metadata-hourly.ts';
import { AGGREGATED_COLUMNS, RUN_COLUMNS, runAggregate } from './run-aggregate.ts';

/** Batches wait meanwhile: a fraction of a second. */
export const CUT_AT_A_TIME = 2_000;
/** It exceeds the second after which autovacuum gives way. */
const LOCK_LIMIT_MS = 2_000;

/** What goes, as roll-ups read it: taken out. */
const CUT = 'account_cut';
const SUMMED = FACET_SOURCE_COLUMNS.map((column) => `r.${column}`).join(', ');
const AGGREGATED = AGGREGATED_COLUMNS.join(', ');

/** The tables of the statements that `cut-rollups.ts` shares; they last for the transaction. */
const STAGE = `
  create temp table ${CUT} on commit drop as select -1 as sign, r.id, ${SUMMED} from llm_requests r with no data`;

/** The oldest first, so that a run is cut from its beginning. */
const TAKE_OUT = `
  with cut as (
    delete from llm_requests r using (
      select id, requested_at from llm_requests where account_id = $1 and requested_at < $2
      order by requested_at, id limit ${CUT_AT_A_TIME}) s
    where r.id = s.id and r.requested_at = s.requested_at
    returning r.id, ${SUMMED}
  )
  insert into ${CUT} select -1, * from cut`;

const CALLS = `(select 1 as sign, ${AGGREGATED} from ${CUT}) calls`;

const STAGE_RUNS = `
  analyze ${CUT};
  create temp table cut_runs (${RUN_COLUMNS}) on commit drop as ${runAggregate(CALLS)};
  analyze cut_runs;
  create temp table cut_left on commit drop as
    select 1 as sign, left_calls.*
    from cut_runs c join llm_runs r using (account_id, trace_id) cross join lateral (
      select ${AGGREGATED} from llm_requests q
      where q.account_id = r.account_id and q.trace_id = r.trace_id and q.requested_at between r.started_at and r.ended_at
      offset 0
    ) left_calls;
  analyze cut_left;
  ${keepFacets(CALLS)}`;

const DELETE_CONTENTS = ['llm_bodies', 'llm_texts'].map(
  (table) => `delete from ${table} b using ${CUT} c where b.id = c.id and b.requested_at = c.requested_at`,
);
const DELETE_REVISIONS = `
  delete from cost_revisions v using ${CUT} c where v.request_id = c.id and v.requested_at = c.requested_at`;

/** One look-up a call: without row counts the planner reads whole days. */
async function byPrimaryKey<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('set local enable_hashjoin = off; set local enable_mergejoin = off');
  const result = await work();
  await client.query('set local enable_hashjoin = on; set local enable_mergejoin = on');
  return result;
}

/** Deletes calls of before a time, at most `CUT_AT_A_TIME`, and returns how many. Runs in a transaction. */
export async function cutAccountCalls(client: pg.ClientBase, accountId: number, before: Date): Promise<number> {
  // As for a day that is dropped: a batch must not add to a run between its sums being read and written.
  await client.query(
    `set local lock_timeout = ${LOCK_LIMIT_MS}; lock table only llm_requests in share row exclusive mode`,
  );
  await client.query(STAGE);
  const { rowCount } = await byPrimaryKey(client, () => client.query(TAKE_OUT, [accountId, before]));
  if (rowCount === null || rowCount === 0) return 0;
  await client.query(STAGE_RUNS);
  await client.query(CUT_RUNS);
  await byPrimaryKey(client, async () => {
    for (const statement of [...DELETE_CONTENTS, DELETE_REVISIONS]) await client.query(statement);
  });
  await addSourceToFacets(client, CUT);
  await client.query(insertCostDeltas(CUT));
  await client.query(insertMetadataDeltas(CUT));
  await forgetDays(client);
  return rowCount;
}

async function forgetDays(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ day: Date }>(
    `select distinct date_trunc('day', requested_at, 'UTC') as day from ${CUT}`,
  );
  await forgetIndexedDays(
    client,
    rows.map(({ day }) => day),
  );
}

export interface BodyCut {
  /** Where the next chunk goes on; null when there are no more calls. */
  readonly after: { readonly requestedAt: Date; readonly id: string } | null;
  readonly deleted: number;
}

const STAGE_BODIES = `
  create temp table ${CUT} on commit drop as select id, requested_at from llm_requests with no data`;
const TAKE_BODIES = `
  insert into ${CUT} select id, requested_at from llm_requests
  where account_id = $1 and requested_at < $2 and (requested_at, id) > ($3::timestamptz, $4::uuid)
  order by requested_at, id limit ${CUT_AT_A_TIME}`;
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Deletes bodies and texts of the next calls between two times. Runs in a transaction. */
export async function cutAccountBodies(
  client: pg.ClientBase,
  accountId: number,
  { from, to }: { readonly from: Date; readonly to: Date },
  after: BodyCut['after'],
): Promise<BodyCut> {
  await lockLog(client);
  await client.query(STAGE_BODIES);
  await client.query(TAKE_BODIES, [accountId, to, after?.requestedAt ?? from, after?.id ?? NO_ID]);
  await client.query(`analyze ${CUT}`);
  let deleted = 0;
  await byPrimaryKey(client, async () => {
    for (const statement of DELETE_CONTENTS) deleted += (await client.query(statement)).rowCount ?? 0;
  });
  if (deleted > 0) await forgetDays(client);
  const { rows } = await client.query<{ requestedAt: Date; id: string }>(
    `select requested_at as "requestedAt", id from ${CUT} order by requested_at desc, id desc limit 1`,
  );
  return { after: rows[0] ?? null, deleted };
}
