/** Changes stored calls while retention waits. */
import type pg from 'pg';

/** Retention of a large day takes long. */
const LOG_LOCK_LIMIT_MS = 2_000;

/** Keeps retention out until the transaction ends, without a deadlock. Rejects (55P03) to be retried later. */
export async function lockLog(client: pg.ClientBase): Promise<void> {
  await client.query(`set local lock_timeout = ${LOG_LOCK_LIMIT_MS};
    lock table only llm_requests in row exclusive mode; set local lock_timeout = 0`);
}
