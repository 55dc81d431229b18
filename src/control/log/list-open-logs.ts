/** Calls that have not ended, as rows of the log. For filters, what only their ending brings is null. */
import { sql } from 'kysely';
import type pg from 'pg';
import { LOG_COLUMN_NAMES, type LogColumn, type LogRow, sqlTypeOf } from '../store/log-columns.ts';
import { exactCondition } from './log-filter-sql.ts';
import { formatLogRecord } from './log-record.ts';
import { type LogScope, logConditions } from './log-scope.ts';
import { NO_PROMOTED_KEYS } from './promoted-keys.ts';
import { allOf, runSql } from './run-sql.ts';

export interface OpenLogs {
  /** The newest first, without the columns that only their ending brings. */
  readonly records: readonly Partial<LogRow>[];
  readonly total: number;
}

/** What is known at the beginning of a call; `begin` is the spool's record of it. */
const BEGUN: Readonly<Partial<Record<LogColumn, string>>> = {
  id: 'id',
  requested_at: 'requested_at',
  account_id: 'account_id',
  key_id: 'key_id',
  node: 'node',
  provider: 'provider',
  endpoint: 'endpoint',
  model_requested: 'model_requested',
  trace_id: 'trace_id',
  trace_source: "begin->>'traceSource'",
  span_path: 'span_path',
  span_key: 'span_key',
  span_name: 'span_name',
  client: "begin->>'client'",
  client_address: "begin->>'clientAddress'",
  agent: "begin->>'agent'",
  agent_session: "begin->>'agentSession'",
  agent_path: "begin->>'agentPath'",
  agent_turn: "begin->>'agentTurn'",
  provider_alias: "begin->>'providerAlias'",
  method: "begin->>'method'",
  path: "begin->>'path'",
  streamed: "(begin->>'streamed')::bool",
  is_batch: "(begin->>'isBatch')::bool",
  region: "begin->>'region'",
  attempt: "(begin->>'attempt')::int4",
  connection_id: "(begin->>'connectionId')::uuid",
  flags: "array(select jsonb_array_elements_text(begin->'flags'))",
  raw_metadata:
    "(select coalesce(jsonb_object_agg(m->>0, m->>1), '{}') from jsonb_array_elements(begin->'metadata') m)",
  indexed_metadata: "'{}'::jsonb",
};

/** Named as the log, so that its conditions hold here too. */
const AS_LOG = sql.raw(
  `(select ${LOG_COLUMN_NAMES.map((name) => `${BEGUN[name] ?? `null::${sqlTypeOf(name)}`} as ${name}`).join(', ')}
    from llm_open_calls) llm_requests`,
);

export async function listOpenLogs(
  pool: pg.Pool,
  scope: LogScope,
  columns: readonly LogColumn[],
  limit: number,
): Promise<OpenLogs> {
  const wanted = [...new Set<LogColumn>(['id', 'requested_at', ...columns])].filter(
    (name) => BEGUN[name] !== undefined,
  );
  // `indexed_metadata` is made when a call ends: every key is looked for in what was sent.
  const where = allOf(logConditions(scope, NO_PROMOTED_KEYS, exactCondition));
  const rows = await runSql(
    pool,
    sql`select ${sql.join(wanted.map((name) => sql.ref(name)))}, count(*) over () as total
      from ${AS_LOG} where ${where} order by requested_at desc, id desc limit ${limit}`,
  );
  return { records: rows.map((row) => formatLogRecord(row, wanted)), total: Number(rows[0]?.['total'] ?? 0) };
}
