/**
 * Erases calls of a batch that were made before somebody asked for it: their records waited in a spool, perhaps of another
 * node. Runs in the transaction that stores them, so that they are never in the log as they were.
 */
import type pg from 'pg';
import { eraseSpend } from './erase-mentions.ts';
import { CREATE_STAGE, eraseStaged, STAGE_COLUMNS } from './erase-staged.ts';

/** `ingest_rows` has the batch. What names a run or user is gone by then, so hashes are compared. */
const STAGE_LATE = `
  insert into ${STAGE_COLUMNS}
  select distinct i.id, i.requested_at
  from ingest_rows i join erasures e on e.account_id = i.account_id and i.requested_at < e.asked_at and not e.is_dry_run
  where case e.kind
    when 'run' then sha256(convert_to(i.trace_id, 'UTF8')) = e.target_hash
    else exists (
      select from jsonb_each_text(i.raw_metadata) m
      where lower(m.key) = e.key and sha256(convert_to(m.value, 'UTF8')) = e.target_hash
    )
  end`;

/** Those whose values are in sums of budgets, to which the batch may have added. */
const ASKED_OF = `
  select e.account_id as "accountId", e.id from erasures e
  where e.kind = 'metadata' and not e.is_dry_run and e.account_id in (select account_id from ingest_rows)`;

export async function eraseLate(client: pg.ClientBase): Promise<void> {
  await client.query(CREATE_STAGE);
  const { rowCount } = await client.query(STAGE_LATE);
  if (rowCount === 0) return;
  await eraseStaged(client);
  const { rows } = await client.query<{ accountId: number; id: number }>(ASKED_OF);
  for (const { accountId, id } of rows) await eraseSpend(client, accountId, id);
}
