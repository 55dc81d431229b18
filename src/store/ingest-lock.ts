/**
 * The lock between those who store calls and those who change what a stored call must have. Every batch shares it; to
 * have had it alone once means that no batch is under way any more that began before.
 */
import type pg from 'pg';

/** Any number, the same in every version: who stores a batch shares it. */
const INGEST_LOCK = 7_461_004;
/** Batches queue behind who waits for it, so nobody may wait long. */
const BARRIER_LIMIT_MS = 1_000;

/**
 * Begins the transaction of a batch. Its later statements see everything that was committed before the lock was had
 * alone. One text, so that it costs one message; the answer to its last statement is the version of the prices.
 */
export const BEGIN_BATCH = `begin; select pg_advisory_xact_lock_shared(${INGEST_LOCK});
  select version from price_book_version`;

/**
 * When it resolves, every batch that did not see what was committed before has ended. In a transaction, which is to be
 * short: batches wait for its end. Rejects (55P03) when a batch takes long: try again later.
 */
export async function waitForBatches(client: pg.ClientBase): Promise<void> {
  await client.query(`set local lock_timeout = ${BARRIER_LIMIT_MS}`);
  await client.query('select pg_advisory_xact_lock($1)', [INGEST_LOCK]);
  await client.query('set local lock_timeout = 0');
}
