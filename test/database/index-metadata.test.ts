/** What the shipper puts into `indexed_metadata` is what the database says of the call afterwards. */
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { type IngestSession, openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { migrate } from '../../src/control/store/migrate.ts';
import { callBegin, callEnd, callId, NOON_MS, priceByToken } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';

const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations');

interface Case {
  readonly name: string;
  readonly account?: number;
  readonly metadata: readonly (readonly [string, string])[];
  readonly indexed: string;
}

const CASES: readonly Case[] = [
  { name: 'a key as it is displayed', metadata: [['Feature', 'search']], indexed: '{"Feature": "search"}' },
  {
    name: 'several spellings, in the order of these',
    metadata: [
      ['feature', 'b'],
      ['FEATURE', 'a'],
      ['Feature', 'c'],
    ],
    indexed: '{"Feature": "a, c, b"}',
  },
  { name: 'an empty value of a key that is promoting', metadata: [['User-Id', '']], indexed: '{"user-ID": ""}' },
  {
    name: 'a name that objects have, and characters that are escaped',
    metadata: [
      ['__proto__', 'kept'],
      ['feature', 'a\tb\\n "c" 😀'],
    ],
    indexed: '{"Feature": "a\\tb\\\\n \\"c\\" 😀", "__PROTO__": "kept"}',
  },
  {
    name: 'a demoted key, and one that begins alike',
    metadata: [
      ['Team', 'x'],
      ['Featurette', 'y'],
    ],
    indexed: '{}',
  },
  { name: 'a key of another account', account: 2, metadata: [['Feature', 'search']], indexed: '{}' },
  { name: 'no metadata', metadata: [], indexed: '{}' },
];

describe.each(POSTGRES_KINDS)('on $name', (kind) => {
  let postgres: TestPostgres;
  let pool: pg.Pool;
  let session: IngestSession;

  beforeAll(async () => {
    postgres = await startPostgres(kind);
    pool = new pg.Pool({ connectionString: await postgres.createDatabase('index_metadata') });
    pool.on('error', () => {}); // The server stops before its connections do.
    await migrate(pool, MIGRATIONS);
    await pool.query(
      `insert into metadata_keys (account_id, key_lower, display_key, state) values (1, 'feature', 'Feature', 'promoted'),
        (1, 'user-id', 'user-ID', 'promoting'), (1, '__proto__', '__PROTO__', 'promoted'), (1, 'team', 'Team', 'demoting')`,
    );
    session = await openIngestSession(pool);
    const entries = CASES.map(({ metadata, account = 1 }, number) => ({
      type: 'end' as const,
      begin: callBegin(number, { metadata, accountId: account }),
      end: callEnd(number),
    }));
    await session.ingest(buildBatch(entries, { process: 'p', priceCall: priceByToken, nowMs: NOON_MS }).items);
  });
  afterAll(async () => {
    session.close();
    await pool.end();
    await postgres.stop();
  });

  test.each(CASES.map((one, number) => ({ ...one, number })))('$name', async ({ number, indexed }) => {
    const { rows } = await pool.query<{ stored: string; said: string }>(
      `select indexed_metadata::text as stored, coalesce((
         select jsonb_object_agg(display_key, metadata_value(raw_metadata, key_lower)) from metadata_keys k
         where k.account_id = r.account_id and state <> 'demoting' and metadata_value(raw_metadata, key_lower) is not null
       ), '{}')::text as said
       from llm_requests r where id = $1`,
      [callId(number)],
    );
    expect(rows).toEqual([{ stored: indexed, said: indexed }]);
  });
});
