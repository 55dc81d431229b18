/** One or more rows in every table, with the values that are hardest to carry over. */
import type pg from 'pg';
import { noteChange } from '../../src/control/audit/note-change.ts';
import { dayOf, ensurePartitions } from '../../src/control/store/partitions.ts';
import { inTransaction } from '../../src/control/store/pool.ts';
import { idAt } from './admin-database.ts';
import { NOON_MS } from './call-fixtures.ts';

/** Everything that the text form of COPY, JSON or a shell gives a meaning to. */
export const HOSTILE_TEXTS: readonly string[] = [
  '',
  '\\N',
  '\\.',
  '\\.\n',
  'a\tb\nc\rd\\e\bf\vg\f',
  '\\x00\\\\N\n\n\n',
  '"quoted" \'single\' {braces},comma',
  '$1; drop table llm_requests; --',
  'ü€𝄞\u{10FFFF}\u0001\u007f\u2028',
  ' leading and trailing ',
];

const HOSTILE_AMOUNTS: readonly string[] = [
  '0',
  '0.000000000001',
  '-1.5',
  '999999999999.999999999999',
  '0.100000000000',
];

/** All 256 values of a byte, twice, so that order matters. */
const ALL_BYTES = Buffer.from(Array.from({ length: 512 }, (_, index) => (index * 7) % 256));

export async function fillEveryTable(pool: pg.Pool): Promise<void> {
  await inTransaction(pool, async (client) => {
    await ensurePartitions(client, [dayOf(NOON_MS), '2024-02-29', dayOf(NOON_MS + 86_400_000)]);
    for (const [index, text] of HOSTILE_TEXTS.entries()) await insertCall(client, index, text);
    await insertOthers(client);
  });
}

async function insertCall(client: pg.ClientBase, index: number, text: string): Promise<void> {
  const at = index === 3 ? new Date('2024-02-29T23:59:59.999Z') : new Date(NOON_MS + index);
  const json = JSON.stringify({ [`k${text}`]: [text, index, 1.5e-7, 12345678901234567890n.toString(), null, true] });
  const amount = HOSTILE_AMOUNTS[index % HOSTILE_AMOUNTS.length] ?? null;
  await client.query(
    `insert into llm_requests (id, requested_at, account_id, key_id, node, provider, endpoint, method, path, is_batch, outcome,
       flags, trace_id, span_path, span_name, raw_metadata, indexed_metadata, input_tokens, usage, usage_source, total_cost,
       known_cost, cost_status, cost_lines, error_message)
     values ($1, $2, 1, 1, 'node', 'openai', 'chat.completions', 'POST', $3, false, 'ok', array['a', $3, '{"x"}'], $4, $3, $3,
       $5, '{}', 9223372036854775807, $5, 'provider', $6, $6, 'exact', $5, $3)`,
    [idAt(index), at, text, index % 2 === 0 ? text : null, json, amount],
  );
  await client.query(
    `insert into llm_bodies (id, requested_at, headers, request, request_packing, response) values ($1, $2, $3, $4, 'none', $5)`,
    [idAt(index), at, json, ALL_BYTES, index % 2 === 0 ? Buffer.alloc(0) : null],
  );
  await client.query(
    `insert into llm_texts (id, requested_at, account_id, prompt, answer, prompt_snippet, answer_snippet)
     values ($1, $2, 1, $3, '', $3, '')`,
    [idAt(index), at, text],
  );
}

async function insertOthers(client: pg.ClientBase): Promise<void> {
  const [, , , , hostile = ''] = HOSTILE_TEXTS;
  const key = (name: string, byte: number) =>
    client.query(
      `insert into gateway_keys (account_id, name, digest, prefix, last4, expires_at) values (1, $1, $2, 'tgk_a', 'zzzz', 'infinity')`,
      [name, Buffer.alloc(32, byte)],
    );
  await key(hostile, 1);
  await key('second', 2);
  await client.query(
    'insert into call_limits (account_id, metadata_key, metadata_value, tokens_per_minute) values (1, $1, $1, 9007199254740991)',
    [hostile],
  );
  await client.query(`update key_snapshot set version = 41; update price_book_version set version = 17`);
  await client.query(
    `insert into jobs (account_id, kind, subject, title, input, cursor, phase, unit, state, rate_per_second)
     values (1, 'promote_metadata', 'metadata:feature', $1, '{"key": "Feature"}', '{"at": 1}', 'reading', 'rows', 'running', 0.1),
       (1, 'reprice', null, 'done one', '{}', null, 'over', 'rows', 'done', 1e300)`,
    [hostile],
  );
  await client.query(`insert into people (email, name) values ('ann@example.com', $1)`, [hostile]);
  await client.query(`insert into memberships (account_id, person_id, role) select 1, id, 'owner' from people`);
  await client.query(
    `insert into provider_credentials values (1, 'openai', 'team', 'https://a.b', $1, '\\x00ff', '\\xff00', $1, now(), $1)`,
    [hostile],
  );
  await client.query(
    `insert into erasures (account_id, kind, key, target, target_hash, is_dry_run, asked_by) values (1, 'metadata', 'user', $1, sha256('a'), false, $1)`,
    [hostile],
  );
  const audited = { accountId: 1, action: 'test.change', subject: { kind: 'test', id: hostile }, after: { hostile } };
  await noteChange(client, audited);
  await client.query(`insert into metadata_keys select 1, 'feature', 'Feature', 'promoting', null, min(id) from jobs`);
  await client.query(
    `insert into llm_open_calls (id, requested_at, account_id, key_id, node, process, provider, endpoint, span_name, begin)
     values ($1, $2, 1, 1, 'node', 'p-1', 'openai', 'chat.completions', $3, '{}')`,
    [idAt(77), new Date(NOON_MS), hostile],
  );
  await client.query(
    `insert into llm_runs values (1, $1, 1, 0, 0, 999999999999999999999999.999999999999, 1, 2, 3, 4, 5, now(), now(), now(), $2)`,
    [hostile, JSON.stringify({ total_cost: '0.1', note: hostile })],
  );
  await client.query(`insert into llm_run_facets values (1, 'model', $1, 't', 1, now())`, [hostile]);
  for (const table of ['llm_metadata_hourly', 'llm_metadata_deltas'])
    await client.query(`insert into ${table} values (1, '2026-11-28 12:00Z', $1, 3)`, [hostile]);
  for (const table of ['llm_cost_hourly', 'llm_cost_deltas'])
    await client.query(
      `insert into ${table} values (1, '', '2026-11-28 12:00Z', '', 'openai', null, 1, 1, 0, 0, 0.000000000001, 1, 2, 3, 4, 5, 0)`,
    );
  await client.query(
    `insert into llm_facet_hourly values (1, 'model', '2026-11-28 12:00Z', $1, true, 1, 0, 0, 0, 0.000000000001, 1, 2, 3, 4, 5,
       '\\x0102', '\\x', '\\xff00')`,
    [hostile],
  );
  await client.query(
    `insert into llm_facet_deltas values (1, 'model', '2026-11-28 12:00Z', $1, true, 1, 0, 0, 0, 0.000000000001, 1, 2, 3, 4, 5,
       '\\x', '\\x01', '\\x0204')`,
    [hostile],
  );
  await client.query(`insert into llm_wide_facets values (1, $1, now())`, [hostile]);
  await client.query(`insert into llm_facet_fill values (1, '2026-11-28 12:00Z')`);
  await client.query(`insert into llm_billed_results values (1, 'openai', $1, $2, now())`, [hostile, idAt(0)]);
  await client.query(
    `insert into price_overrides (account_id, provider, match, model, service_tier, rates, note)
     values (1, 'openai', 'exact', $1, 'any', '{"input": "0.000000000001"}', $1)`,
    [hostile],
  );
  await client.query(
    `insert into price_mappings (account_id, provider, match, model, billing_model) values (1, 'openai', 'exact', $1, 'm')`,
    [hostile],
  );
  await client.query(`insert into price_multipliers (account_id, provider, factor) values (1, 'openai', 0.850001)`);
  await client.query(
    `insert into price_catalogs (name, origin, sha256, checked_on, models, content, is_active) values ($1, 'file', $2, '2026-11-28', 1, $1, false)`,
    [hostile, Buffer.alloc(32, 9)],
  );
  await client.query(
    `insert into alert_destinations (account_id, name, kind, address, secret, created_by) values (1, $1, 'webhook', $1, $1, $1)`,
    [hostile],
  );
  await client.query(
    `insert into alerts (account_id, name, kind, settings, destinations, created_by)
     select 1, $1, 'jobs', '{}', array_agg(id), $1 from alert_destinations`,
    [hostile],
  );
  await client.query(
    `insert into alert_events (account_id, id, alert_id, subject, title, body) select 1, gen_random_uuid(), id, $1, $1, $1 from alerts`,
    [hostile],
  );
  await client.query(
    `insert into alert_deliveries (account_id, event_id, destination_id, state)
     select 1, e.id, d.id, 'waiting' from alert_events e, alert_destinations d`,
  );
  await client.query(
    `insert into brake_rules (account_id, rule, scope, action, settings, changed_by)
     values (1, 'retries', 'run', 'pause', '{"calls": 7}', $1)`,
    [hostile],
  );
  await client.query(
    `insert into brake_hits (account_id, rule, scope, value, action, reason, numbers)
     values (1, 'retries', 'run', $1, 'pause', $1, '{"calls": 8}'), (1, 'call_rate', 'key', '1', 'alarm', $1, '{}')`,
    [hostile],
  );
  await client.query(`update price_feed set etag = $1, checked_at = now(), result = 'failed', detail = $1`, [hostile]);
  await client.query(
    `insert into price_changes (account_id, actor, subject, action, summary, after) values (1, $1, 'override', 'added', $1, '{}')`,
    [hostile],
  );
  await client.query(
    `insert into cost_revisions (request_id, job_id, account_id, requested_at, revised_at, reason, old_cost_status, new_cost_status, new_total_cost)
     values ($1, 2, 1, now(), now(), $2, 'unpriced', 'exact', 0.123456789012)`,
    [idAt(0), hostile],
  );
  await client.query(
    `insert into reprice_days select max(id), '2026-11-28', 'openai', $1, 1, 1, 0.5, 123456789012345678901234.000000000001, 0, 0 from jobs`,
    [hostile],
  );
  await client.query(`insert into deployment_settings values ('retention_rows', '365', 'operator', $1, now())`, [
    hostile,
  ]);
  await client.query(`insert into llm_closed_calls values ($1, $2, 7, now())`, [idAt(5), hostile]);
  await client.query(`update repriced_list_prices set version = $1`, [hostile]);
  await client.query(
    `insert into budgets (account_id, name, scope, metadata_key, value, amount, period, when_unknown, held_when_unknown)
     values (1, $1, 'metadata', 'User-Id', $1, 999999.999999999999, 'month', 'hold', 0.000000000001)`,
    [hostile],
  );
  await client.query(
    `insert into budget_spend values (1, 1, $1, '2026-11-01', $1, 999999999999.999999999999, 7, 0.5, now())`,
    [hostile],
  );
}
