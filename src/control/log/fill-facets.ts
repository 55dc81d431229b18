/**
 * Makes hours of `llm_facet_hourly` anew from the calls: those of before the upgrade, the newest first, and those in
 * which a node of a former release stored calls meanwhile. A batch that is under way is not in the snapshot, and adds
 * its own calls when it is done.
 */
import type pg from 'pg';
import { inTransaction } from '../store/pool.ts';
import { ALL_CALLS, FACET_SOURCE_COLUMNS } from './call-facets.ts';
import { addSourceToFacets } from './facet-deltas.ts';
import { FOLD_LOCK } from './fold-rollups.ts';

const HOUR = `date_trunc('hour', $2::timestamptz, 'UTC')`;
const IN_HOUR = `account_id = $1 and requested_at >= ${HOUR} and requested_at < ${HOUR} + interval '1 hour'`;

const CALLS = `(select 1 as sign, ${FACET_SOURCE_COLUMNS.join(', ')} from llm_requests where ${IN_HOUR}) calls`;

async function makeHour(client: pg.ClientBase, accountId: number, hour: Date): Promise<void> {
  for (const table of ['llm_facet_deltas', 'llm_facet_hourly'])
    await client.query(`delete from ${table} where account_id = $1 and hour = ${HOUR}`, [accountId, hour]);
  await addSourceToFacets(client, CALLS, [accountId, hour]);
}

/** Hours in which both roll-ups do not have the same calls: the former release writes only one of them. */
const DIFFERENT = `
  select account_id as "accountId", hour from (
    select account_id, hour, calls from llm_cost_hours where facet = ''
    union all
    select account_id, hour, -calls from llm_facet_hours where facet = '${ALL_CALLS}'
  ) both_sides
  where hour >= coalesce((select filled_from from llm_facet_fill f where f.account_id = both_sides.account_id), '-infinity')
  group by account_id, hour having sum(calls) <> 0 order by hour desc limit 100`;

/** The first statement takes the snapshot, so the lock is taken before, for the transaction's connection. */
async function inFoldersSnapshot<T>(pool: pg.Pool, work: (client: pg.ClientBase) => Promise<T>): Promise<T | null> {
  return inTransaction(pool, async (client) => {
    await client.query('set transaction isolation level repeatable read');
    const { rows } = await client.query<{ isOurs: boolean }>('select pg_try_advisory_xact_lock($1) as "isOurs"', [
      FOLD_LOCK,
    ]);
    return rows[0]?.isOurs === true ? work(client) : null;
  });
}

/** Returns the number of hours that were wrong. Fails (40001) when another node folded meanwhile. */
export async function mendFacets(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ accountId: number; hour: Date }>(DIFFERENT);
  for (const { accountId, hour } of rows) await inFoldersSnapshot(pool, (client) => makeHour(client, accountId, hour));
  return rows.length;
}

/** Fills the newest hour that is not filled. Returns whether there may be more. */
export async function fillFacets(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ accountId: number; last: Date | null }>(
    `select account_id as "accountId", (
       select max(requested_at) from llm_requests r where r.account_id = f.account_id and r.requested_at < f.filled_from
     ) as last
     from llm_facet_fill f limit 1`,
  );
  const [next] = rows;
  if (next === undefined) return false;
  const { accountId, last } = next;
  if (last === null) {
    await pool.query('delete from llm_facet_fill where account_id = $1', [accountId]);
    return true;
  }
  await inFoldersSnapshot(pool, async (client) => {
    await makeHour(client, accountId, last);
    await client.query(`update llm_facet_fill set filled_from = ${HOUR} where account_id = $1`, [accountId, last]);
  });
  return true;
}
