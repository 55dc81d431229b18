/** Counts a repeatable result with its first record, and clears the usage of later fetches while rows are staged. */
import type pg from 'pg';
import { storableJson } from '../store/copy-text.ts';
import { DAY_MS } from '../store/partitions.ts';
import type { CallItem } from './batch-item.ts';

/** Providers keep results for 30 days at most, and those must not count again. */
const MIN_KEPT_DAYS = 90;
const MAX_RESULT_ID_CHARACTERS = 512;

/** $1: the claims as JSON, in the order of the calls. Two batches that claim one result wait for each other. */
const CLAIM = `
  with claims as (
    select distinct on (account_id, provider, result_id) account_id, provider, result_id, request_id, requested_at
    from jsonb_to_recordset($1::jsonb) as x (account_id int4, provider text, result_id text, request_id uuid,
      requested_at timestamptz)
    order by account_id, provider, result_id, request_id
  )
  insert into llm_billed_results (account_id, provider, result_id, request_id, requested_at)
  select * from claims order by account_id, provider, result_id
  on conflict do nothing`;

/** A separate statement sees what another batch has committed meanwhile. */
const STRIKE_OUT = `
  update ingest_rows s set usage = null, native_usage = null, usage_source = 'none', input_tokens = null,
    cache_read_input_tokens = null, cache_creation_input_tokens = null, cache_creation_5m_tokens = null,
    cache_creation_1h_tokens = null, output_tokens = null, reasoning_tokens = null, input_cost = null,
    cache_read_cost = null, cache_creation_cost = null, output_cost = null, other_cost = null, total_cost = 0,
    known_cost = 0, cost_status = 'not_billed', cost_lines = '[]', flags = s.flags || '{usage_counted_before}'
  from jsonb_to_recordset($1::jsonb) as x (account_id int4, provider text, result_id text, request_id uuid)
  join llm_billed_results b using (account_id, provider, result_id)
  where s.id = x.request_id and b.request_id <> s.id`;

export async function claimResults(client: pg.ClientBase, calls: readonly CallItem[]): Promise<void> {
  const claims = calls.flatMap(({ row, billedOnceAs }) =>
    billedOnceAs === null
      ? []
      : [
          {
            account_id: row.account_id,
            provider: row.provider,
            result_id: billedOnceAs.slice(0, MAX_RESULT_ID_CHARACTERS),
            request_id: row.id,
            requested_at: row.requested_at.toISOString(),
          },
        ],
  );
  if (claims.length === 0) return;
  const json = storableJson(claims);
  await client.query({ name: 'claim_results', text: CLAIM, values: [json] });
  await client.query({ name: 'strike_out_results', text: STRIKE_OUT, values: [json] });
}

export async function forgetOldResults(pool: pg.Pool, nowMs: number, rowsDays: number): Promise<void> {
  const before = new Date(nowMs - Math.max(rowsDays, MIN_KEPT_DAYS) * DAY_MS);
  await pool.query('delete from llm_billed_results where requested_at < $1', [before]);
}
