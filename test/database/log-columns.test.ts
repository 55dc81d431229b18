/** The table of columns says of `llm_requests` what the migrations made of it. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  isNullable,
  LOG_COLUMN_NAMES,
  LOG_COLUMNS,
  type SqlType,
  sqlTypeOf,
} from '../../src/control/store/log-columns.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';

/** As the database spells them. */
const TYPES: Readonly<Record<SqlType, string>> = {
  text: 'text',
  uuid: 'uuid',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  'numeric(24,12)': 'numeric(24,12)',
  'timestamptz(3)': 'timestamp(3) with time zone',
  bool: 'boolean',
  'text[]': 'text[]',
  jsonb: 'jsonb',
};

interface FoundColumn {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly comment: string | null;
}

describe.each(POSTGRES_KINDS)('$name', (kind) => {
  let server: TestPostgres;
  let pool: pg.Pool;

  beforeAll(async () => {
    server = await startPostgres(kind);
    pool = openTestPool(await server.createDatabase('columns'));
  }, 60_000);
  afterAll(async () => {
    await pool?.end();
    await server?.remove();
  });

  test('names, types, nulls and comments of the columns of the log are those of the table of columns', async () => {
    const { rows } = await pool.query<FoundColumn>(
      `select attname as name, format_type(atttypid, atttypmod) as type, not attnotnull as nullable,
         col_description(attrelid, attnum) as comment
       from pg_attribute
       where attrelid = 'llm_requests'::regclass and attnum > 0 and not attisdropped and attname not in ('ingest_xid', 'stored_xid')`,
    );
    const byName = (a: FoundColumn, b: FoundColumn) => (a.name < b.name ? -1 : 1);
    const declared = LOG_COLUMN_NAMES.map((name) => ({
      name,
      type: TYPES[sqlTypeOf(name)],
      nullable: isNullable(name),
      comment: `${LOG_COLUMNS[name].about}.`,
    }));
    expect(rows.toSorted(byName)).toEqual(declared.toSorted(byName));
  });
});
