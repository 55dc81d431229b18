/** Demo data in a real database: loaded once, exact in every sum, and taken out without a trace. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDemoData, type DemoData } from '../../src/control/demo-log/demo-data.ts';
import { foldRollups } from '../../src/control/log/fold-rollups.ts';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { listKeys } from '../../src/control/store/gateway-keys.ts';
import { createPriceBook } from '../../src/pricing/price-book.ts';
import type { SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { callBegin, callEnd, NOON_MS } from '../support/call-fixtures.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { sweepAt } from '../support/sweep-at.ts';

const { priceCall } = createPriceBook();
const DAY_MS = 86_400_000;

describe.each(POSTGRES_KINDS)('demo data on $name', (kind) => {
  let server: TestPostgres;
  let pool: pg.Pool;
  let nowMs = NOON_MS;

  beforeAll(async () => {
    server = await startPostgres(kind);
    pool = openTestPool(await server.createDatabase('demo_data'));
    // With a promoted key there are roll-ups by its values, too.
    await pool.query(
      `insert into metadata_keys (account_id, key_lower, display_key, state) values (1, 'feature', 'Feature', 'promoted')`,
    );
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  function demoData(limits: Partial<Parameters<typeof createDemoData>[0]> = {}): DemoData {
    return createDemoData({
      pool,
      accountId: 1,
      priceCall,
      retentionRowsDays: 90,
      retentionBodiesDays: 14,
      now: () => nowMs,
      ...limits,
    });
  }

  async function countIn(table: string): Promise<number> {
    const { rows } = await pool.query<{ count: number }>(`select count(*) from ${table}`);
    return rows[0]?.count ?? -1;
  }

  /** A call of a real key. */
  async function storeOwnCall(number: number, traceId: string | null): Promise<void> {
    const session = await openIngestSession(pool);
    const entry: SpoolEntry = { type: 'end', begin: callBegin(number, { traceId, keyId: 777 }), end: callEnd(number) };
    await session.ingest(buildBatch([entry], { process: 'test', priceCall, nowMs }).items);
    session.close();
  }

  test('loading stores every call with bodies, under a revoked key, and loading again adds nothing', async () => {
    expect(await demoData().load()).toBe(647);
    nowMs = NOON_MS + 3_600_000;
    expect(await demoData().load()).toBe(0);
    expect(await demoData().countCalls()).toBe(647);
    expect(await countIn('llm_requests')).toBe(647);
    expect(await countIn('llm_bodies')).toBe(647);
    expect(await countIn('llm_runs')).toBe(13);
    const [key] = await listKeys(pool, 1);
    expect(key).toMatchObject({ name: 'Demo data', prefix: 'tgk_demo', last4: 'data' });
    expect(key?.revokedAtMs).not.toBeNull();
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('two loads at the same time load once', async () => {
    await demoData().remove();
    const loaded = await Promise.all([demoData().load(), demoData().load()]);
    expect(loaded.sort()).toEqual([0, 647]);
  });

  test('every call is marked, one spells its feature in small letters, some have none', async () => {
    const { rows } = await pool.query(`
      select count(*) filter (where raw_metadata->>'Environment' = 'demo') as marked,
        count(*) filter (where raw_metadata ? 'feature') as small,
        count(*) filter (where indexed_metadata->>'Feature' = raw_metadata->>'feature') as small_promoted,
        count(*) filter (where trace_id is null and not raw_metadata ?| array['Feature', 'feature']) > 5 as some_without
      from llm_requests`);
    expect(rows).toEqual([{ marked: 647, small: 1, small_promoted: 1, some_without: true }]);
  });

  test('costs come from the price book: only the company’s own model is unpriced, only failures and a cut call have none', async () => {
    const { rows } = await pool.query(`
      select cost_status, array_agg(distinct outcome order by outcome) as outcomes,
        array_agg(distinct model) filter (where cost_status = 'unpriced') as models
      from llm_requests group by 1 order by 1`);
    expect(rows).toEqual([
      { cost_status: 'exact', outcomes: ['ok'], models: null },
      { cost_status: 'not_billed', outcomes: ['upstream_error'], models: null },
      { cost_status: 'partial', outcomes: ['client_closed'], models: null },
      { cost_status: 'unpriced', outcomes: ['ok'], models: ['alderfinch/reviews-tuned-8b'] },
    ]);
  });

  test('the failed run ends with a clear error, the long one has 301 calls, one is nested five deep', async () => {
    const { rows: errors } = await pool.query(
      `select status, error_type from llm_requests where trace_id = 'demo-trip-loire-17' order by id desc limit 1`,
    );
    expect(errors).toEqual([{ status: 400, error_type: 'ValidationException' }]);
    const { rows: runs } = await pool.query(`select calls from llm_runs where trace_id = 'demo-catalogue-nightly-331'`);
    expect(runs).toEqual([{ calls: 301 }]);
    const { rows: depth } = await pool.query(
      `select max(cardinality(string_to_array(span_key, '/'))) as depth from llm_requests where trace_id = 'demo-trip-loire-17'`,
    );
    expect(depth).toEqual([{ depth: 5 }]);
  });

  test('removing leaves no row, no body, no roll-up and no key, and nothing else is touched', async () => {
    await storeOwnCall(1, null);
    await storeOwnCall(2, 'my-run');
    await storeOwnCall(3, 'demo-support-8120');
    expect(await demoData().remove()).toBe(647);
    expect(await demoData().countCalls()).toBe(0);
    expect(await countIn('llm_requests')).toBe(3);
    expect([await countIn('llm_bodies'), await countIn('llm_texts')]).toEqual([0, 0]);
    await foldRollups(pool);
    expect(await countIn('llm_cost_hourly')).toBe(2);
    expect(await listKeys(pool, 1)).toEqual([]);
    // The run of that name that is not ours has its own times and sums again.
    const { rows } = await pool.query(
      'select trace_id, calls, ended_at - started_at as took from llm_runs order by trace_id',
    );
    expect(rows).toMatchObject([
      { trace_id: 'demo-support-8120', calls: 1, took: { seconds: 1, milliseconds: 500 } },
      { trace_id: 'my-run', calls: 1 },
    ]);
    expect(await verifyRollups(pool)).toEqual([]);
    expect(await demoData().remove()).toBe(0);
  });

  test('days that retention drops are not loaded, and bodies only where they are kept', async () => {
    nowMs = NOON_MS;
    const loaded = await demoData({ retentionRowsDays: 1, retentionBodiesDays: 0 }).load();
    expect(loaded).toBeGreaterThan(150);
    expect(loaded).toBeLessThan(647);
    const { rows } = await pool.query(`select min(requested_at) >= '2026-11-27' as is_kept from llm_requests`);
    expect(rows).toEqual([{ is_kept: true }]);
    expect([await countIn('llm_bodies'), await countIn('llm_texts')]).toEqual([0, 0]);
  });

  test('what retention has dropped meanwhile is removed from the runs too', async () => {
    nowMs = NOON_MS + 20 * DAY_MS;
    await sweepAt(nowMs, { pool, limits: { rowsDays: 10, bodiesDays: 10 } });
    const { rows } = await pool.query('select count(*) > 8 as some from llm_runs where is_history');
    expect(rows).toEqual([{ some: true }]);
    await demoData().remove();
    const { rows: left } = await pool.query('select trace_id from llm_runs order by trace_id');
    // The run that a real call had a part in stays, as history of both.
    expect(left).toEqual([{ trace_id: 'demo-support-8120' }, { trace_id: 'my-run' }]);
    expect(await verifyRollups(pool)).toEqual([]);
  });
});
