/** Fields that the database refuses, each by itself: the rest of the record is stored with everything that it has. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startShipper } from '../../src/control/shipper/shipper.ts';
import { openSpoolWriter } from '../../src/spool/spool-writer.ts';
import { callBegin, callEnd, priceByToken } from '../support/call-fixtures.ts';
import { fixedPrices } from '../support/fixed-prices.ts';
import { openMigrated } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

describe.each(POSTGRES_KINDS)('$name', (kind) => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres(kind);
  });
  afterAll(() => server?.remove());

  /** The row of one call, stored by way of the spool into a database that was prepared. */
  async function store(url: string, prepare: string): Promise<Record<string, unknown> | undefined> {
    const pool = await openMigrated(url);
    await pool.query(prepare);
    const root = mkdtempSync(join(tmpdir(), 'fields-'));
    const spool = openSpoolWriter({ dir: join(root, 'spool', 'p1'), durability: 'process', log: quietLog() });
    const begin = callBegin(1, {
      traceId: 'run-1',
      spanPath: 'plan/write',
      client: 'app',
      metadata: [['Feature', 'search']],
    });
    await new Promise((resolve) => spool.begin(begin, resolve));
    await new Promise((resolve) => spool.end(begin, callEnd(1, { modelRequested: '€uro-model' }), [], resolve));
    const prices = fixedPrices(priceByToken);
    const shipper = startShipper({ pool, spoolDir: join(root, 'spool'), prices, log: quietLog() });
    expect(await shipper.drain(30_000)).toBe(true);
    await shipper.stop();
    await spool.close();
    const { rows } = await pool.query<Record<string, unknown>>(
      `select trace_id, span_path, client, model_requested, raw_metadata, flags, cost_status from llm_requests`,
    );
    await pool.end();
    rmSync(root, { recursive: true });
    return rows[0];
  }

  const WHOLE = {
    trace_id: 'run-1',
    span_path: 'plan/write',
    client: 'app',
    raw_metadata: { Feature: 'search' },
    flags: ['sanitised'],
    cost_status: 'exact',
  };

  test('letters that the database cannot hold are question marks', async () => {
    const usual = await server.createDatabase('any');
    const admin = new pg.Client({ connectionString: usual });
    await admin.connect();
    await admin.query(`create database latin encoding 'LATIN1' locale 'C' template template0`);
    await admin.end();
    const row = await store(usual.replace('/any?', '/latin?'), 'select 1');
    expect(row).toEqual({ ...WHOLE, model_requested: '?uro-model' });
  });

  test.each([
    ['a client', 'client is null', { client: null }],
    ['metadata', `raw_metadata = '{}'`, { raw_metadata: {} }],
    ['a run', 'trace_id is null', { trace_id: null, span_path: null }],
  ])('%s that a constraint refuses is left out', async (name, check, expected) => {
    const url = await server.createDatabase(name.replaceAll(' ', '_'));
    const row = await store(url, `alter table llm_requests add constraint ours check (${check})`);
    expect(row).toEqual({ ...WHOLE, model_requested: '?uro-model', ...expected });
  });
});
