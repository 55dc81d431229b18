/** The lock that batches share. Whoever holds it alone for a moment knows that no earlier batch is under way. */
import type pg from 'pg';

/** The number is arbitrary and stays the same in every version. */
const INGEST_LOCK = 7_461_004;
/** Batches queue behind the waiting writer, so it may not wait long. */
const BARRIER_LIMIT_MS = 1_000;

/**
 * Begins a batch's transaction as one message. Behind the lock it reads the version of the prices, and the keys that new
 * calls have in `indexed_metadata`: who changes them waits for the batches that have read them.
 */
export const BEGIN_BATCH = `begin; select pg_advisory_xact_lock_shared(${INGEST_LOCK});
  select json_build_object(
    'version', (select version from price_book_version),
    'keys', (select coalesce(json_agg(json_build_array(account_id, key_lower, display_key)), '[]')
      from metadata_keys where state in ('promoting', 'promoted')),
    'hasErasures', exists (select from erasures where not is_dry_run)
  ) as beginning`;

/**
 * Resolves when every batch that missed earlier commits has ended. Keep the transaction short: batches wait. Rejects
 * (55P03) when a batch takes long.
 */
export async function waitForBatches(client: pg.ClientBase): Promise<void> {
  await client.query(`set local lock_timeout = ${BARRIER_LIMIT_MS}`);
  await client.query('select pg_advisory_xact_lock($1)', [INGEST_LOCK]);
  await client.query('set local lock_timeout = 0');
}
