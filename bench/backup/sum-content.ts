/** What is in a gateway's database, as numbers that two databases have in common only when they have the rows in common. */
import type pg from 'pg';
import { BACKUP_TABLES } from '../../src/backup/backup-tables.ts';
import { verifyRollups } from '../../src/runs/verify-rollups.ts';
import { closeConnection, openSingleConnection } from '../../src/store/single-connection.ts';

/** A restore sets them anew, or the gateway does at its start. */
const SET_ANEW: readonly string[] = ['key_snapshot', 'price_book_version', 'jobs'];
/** Of the server's own transactions. */
const OF_THE_SERVER = 'ingest_xid';

const COSTS = ['input', 'cache_read', 'cache_creation', 'output', 'other', 'total', 'known', 'estimated'] as const;
const TOKENS = ['input', 'cache_read_input', 'cache_creation_input', 'output', 'reasoning'] as const;

export interface Content {
  /** Exact sums as text. */
  readonly sums: Readonly<Record<string, string>>;
  /** For each table: rows, and the sum over 60 bits of the MD5 of each row's text. */
  readonly tables: Readonly<Record<string, string>>;
  /** Roll-ups that do not equal the records. */
  readonly differences: number;
}

export async function sumContent(connectionString: string): Promise<Content> {
  const client = await openSingleConnection({ connectionString, applicationName: 'bench' });
  try {
    return {
      sums: await readSums(client),
      tables: await readTables(client),
      differences: (await verifyRollups(client)).length,
    };
  } finally {
    await closeConnection(client);
  }
}

async function readSums(client: pg.ClientBase): Promise<Readonly<Record<string, string>>> {
  const parts = [
    'count(*) as calls',
    ...COSTS.map((name) => `coalesce(sum(${name}_cost), 0) as ${name}_cost`),
    ...TOKENS.map((name) => `coalesce(sum(${name}_tokens), 0) as ${name}_tokens`),
    '(select count(*) from llm_runs) as runs',
    '(select sum(total_cost) from llm_runs) as runs_cost',
    '(select count(*) from llm_bodies) as bodies',
    '(select sum(octet_length(request) + octet_length(response)) from llm_bodies) as body_bytes',
  ];
  const { rows } = await client.query<Record<string, unknown>>(`select ${parts.join(', ')} from llm_requests`);
  return Object.fromEntries(Object.entries(rows[0] ?? {}).map(([name, value]) => [name, String(value)]));
}

async function readTables(client: pg.ClientBase): Promise<Readonly<Record<string, string>>> {
  const tables: Record<string, string> = {};
  for (const { name } of BACKUP_TABLES) {
    if (SET_ANEW.includes(name)) continue;
    const { rows: columns } = await client.query<{ list: string }>(
      `select string_agg(attname, ', ' order by attnum) as list from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped and attname <> $2`,
      [name, OF_THE_SERVER],
    );
    const { rows } = await client.query<{ digest: string }>(
      `select count(*) || ' ' || coalesce(sum(('x' || left(md5(t::text), 15))::bit(60)::int8), 0) as digest
       from (select ${columns[0]?.list} from ${name}) t`,
    );
    tables[name] = rows[0]?.digest ?? '';
  }
  return tables;
}
