/** The database of the gateway under test, asked directly, past the gateway. Reads only. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { RollupDifference } from '../../src/control/log/rollup-difference.ts';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { parseUsd } from '../../src/vocabulary/usd.ts';
import type { CountedRow } from './tally.ts';

const CONNECT_TIMEOUT_MS = 10_000;

export interface DatabaseCount {
  /** One for each call of a client, in the order of their arrival: a websocket with the sums of its turns. */
  readonly rows: readonly CountedRow[];
  readonly rowCount: number;
  readonly openCalls: number;
  readonly differences: readonly RollupDifference[];
}

/** The lines of `postmaster.pid` (PostgreSQL's miscadmin.h): pid, data directory, start, port, socket folder. */
export function embeddedUrl(dataDir: string): string {
  const [, , , port = '', socketDir = ''] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split(
    '\n',
  );
  const password = readFileSync(join(dataDir, 'postgres-password'), 'utf8').trim();
  return `postgresql://tollgate:${password}@/tollgate?host=${encodeURIComponent(socketDir)}&port=${port}`;
}

interface RowText {
  readonly call_id: string | null;
  readonly outcome: string;
  readonly closed_before: string | null;
  readonly status: number | null;
  readonly provider: string;
  readonly input_tokens: string | null;
  readonly cache_read_input_tokens: string | null;
  readonly output_tokens: string | null;
  readonly total_cost: string | null;
  readonly known_cost: string | null;
  readonly trace_id: string | null;
  readonly duration_ms: string | null;
  readonly is_backwards: boolean | null;
  readonly rows: string;
}

/** HTTP/2 has no capitals in names of headers. Turns are added to the row of their connection, which must be there. */
const READ_ROWS = `
  with parts as (
    select *, coalesce(connection_id, id) as whole from llm_requests where requested_at >= $1
  ), sums as (
    select whole, count(*) as rows, sum(input_tokens) as input_tokens,
      sum(cache_read_input_tokens) as cache_read_input_tokens, sum(output_tokens) as output_tokens,
      case when bool_and(total_cost is not null) then sum(total_cost) end as total_cost, sum(known_cost) as known_cost,
      max(raw_metadata::text) as raw_metadata, max(provider) as provider, max(trace_id) as trace_id
    from parts group by whole
  )
  select coalesce(s.raw_metadata::jsonb->>'Call-Id', s.raw_metadata::jsonb->>'call-id') as call_id,
         coalesce(p.outcome, 'turns without their connection') as outcome, p.closed_before, p.status, s.provider, s.trace_id,
         s.input_tokens, s.cache_read_input_tokens, s.output_tokens, s.total_cost, s.known_cost,
         p.duration_ms, p.responded_at < p.requested_at as is_backwards, s.rows
  from sums s left join parts p on p.id = s.whole order by p.requested_at nulls first, s.whole`;

/** All calls that arrived from `sinceMs` on, and whether all roll-ups agree with the records. */
export async function countDatabase(connectionString: string, sinceMs: number): Promise<DatabaseCount> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  await client.connect();
  try {
    const { rows } = await client.query<RowText>(READ_ROWS, [new Date(sinceMs)]);
    const open = await client.query<{ count: string }>('select count(*) from llm_open_calls');
    return {
      rows: rows.map(toCountedRow),
      rowCount: rows.reduce((sum, row) => sum + Number(row.rows), 0),
      openCalls: Number(open.rows[0]?.count),
      differences: await verifyRollups(client),
    };
  } finally {
    await client.end();
  }
}

function toCountedRow(row: RowText): CountedRow {
  return {
    callId: row.call_id ?? 'no id',
    outcome: row.outcome,
    closedBefore: row.closed_before,
    status: row.status,
    provider: row.provider,
    traceId: row.trace_id,
    inputTokens: toCount(row.input_tokens),
    cacheReadTokens: toCount(row.cache_read_input_tokens),
    outputTokens: toCount(row.output_tokens),
    totalCost: toCost(row.total_cost),
    knownCost: toCost(row.known_cost),
    durationMs: toCount(row.duration_ms),
    endsBeforeItBegins: row.is_backwards,
  };
}

function toCount(text: string | null): number | null {
  return text === null ? null : Number(text);
}

function toCost(text: string | null): bigint | null {
  return text === null ? null : parseUsd(text);
}
