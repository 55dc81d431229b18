/**
 * A line of 100 kB/s to the database, and a database that takes its time for every row. The times are those of a batch in
 * `batch-pace.ts`, sixty times shorter; so are the records.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Shipper, startShipper } from '../../src/control/shipper/shipper.ts';
import { openSpoolWriter, type SpoolWriter } from '../../src/spool/spool-writer.ts';
import { type BreakableLine, startBreakableLine } from '../support/breakable-line.ts';
import { callBegin, callBody, callEnd, priceByToken } from '../support/call-fixtures.ts';
import { fixedPrices } from '../support/fixed-prices.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

const BATCH_TIMEOUT_MS = 1_000;
const DRAIN_MS = 50_000;

describe.each(POSTGRES_KINDS)('$name', (kind) => {
  let server: TestPostgres;
  let url: string;
  let root: string;
  let spool: SpoolWriter;

  beforeAll(async () => {
    server = await startPostgres(kind);
  });
  afterAll(() => server?.remove());
  beforeEach(async () => {
    url = await server.createDatabase();
    root = mkdtempSync(join(tmpdir(), 'slow-'));
    spool = openSpoolWriter({ dir: join(root, 'spool', 'p1'), durability: 'process', log: quietLog() });
  });
  afterEach(async () => {
    await spool.close();
    rmSync(root, { recursive: true });
  });

  async function writeCall(number: number, bodyBytes: number): Promise<void> {
    const begin = callBegin(number);
    await new Promise((resolve) => spool.begin(begin, resolve));
    const bodies = bodyBytes === 0 ? [] : [callBody(number, 'response', randomBytes(bodyBytes))];
    await new Promise((resolve) => spool.end(begin, callEnd(number), bodies, resolve));
  }

  async function ship(connectionString: string): Promise<{ isStored: boolean; stats: ReturnType<Shipper['stats']> }> {
    const pool = openTestPool(connectionString);
    const shipper = startShipper({
      pool,
      spoolDir: join(root, 'spool'),
      prices: fixedPrices(priceByToken),
      log: quietLog(),
      batchTimeoutMs: BATCH_TIMEOUT_MS,
    });
    const isStored = await shipper.drain(DRAIN_MS);
    await shipper.stop();
    await pool.end();
    return { isStored, stats: shipper.stats() };
  }

  async function count(table: string): Promise<number> {
    const pool = openTestPool(url);
    const { rows } = await pool.query<{ count: number }>(`select count(*) from ${table}`);
    await pool.end();
    return rows[0]?.count ?? 0;
  }

  async function behindLine(work: (line: BreakableLine) => Promise<void>): Promise<void> {
    const line = await startBreakableLine(url, 100_000);
    try {
      await work(line);
    } finally {
      await line.close();
    }
  }

  test('records that take longer together than a batch may are stored in smaller batches', async () => {
    for (let number = 1; number <= 16; number += 1) await writeCall(number, 30_000);
    await behindLine(async ({ connectionString }) => {
      expect(await ship(connectionString)).toMatchObject({ isStored: true, stats: { rows: 16, quarantined: 0 } });
    });
    expect(await count('llm_bodies')).toBe(16);
  });

  test('a record that takes longer alone gets more time, and the small ones behind it follow', async () => {
    await writeCall(1, 250_000);
    for (let number = 2; number <= 40; number += 1) await writeCall(number, 0);
    await behindLine(async ({ connectionString }) => {
      expect(await ship(connectionString)).toMatchObject({ isStored: true, stats: { rows: 40 } });
    });
    expect(await count('llm_requests')).toBe(40);
  });

  test('a database that takes its time for each row gets as many rows as it can take', async () => {
    const pool = openTestPool(url);
    await pool.query(`create function slowly() returns trigger language plpgsql as
      'begin perform pg_sleep(0.02); return new; end'`);
    await pool.query('create trigger slowly before insert on llm_requests for each row execute function slowly()');
    await pool.end();
    for (let number = 1; number <= 200; number += 1) await writeCall(number, 0);
    expect(await ship(url)).toMatchObject({ isStored: true, stats: { rows: 200 } });
    expect(await count('llm_requests')).toBe(200);
  });

  test('a connection that breaks under every large batch stores it in small ones', async () => {
    for (let number = 1; number <= 8; number += 1) await writeCall(number, 0);
    const line = await startBreakableLine(url);
    let broken = 0;
    const breakLarge = async (): Promise<void> => {
      // One that carries more than two calls: the rows are lines, which begin with the id.
      const many = /(?:[0-9a-f]{8}-[0-9a-f-]{27}\t[^\n]*\n){3}/;
      const { breakOff } = await line.see(/^test$/, many, true);
      broken += 1;
      breakOff('reset');
      await breakLarge();
    };
    void breakLarge();
    expect(await ship(line.connectionString)).toMatchObject({ isStored: true, stats: { rows: 8 } });
    expect(broken).toBeGreaterThan(0);
    await line.close();
  });
});
