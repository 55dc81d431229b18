/** The shipper without a database that works; with one, see `test/gateway/shipper.test.ts`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { priceByToken } from '../../test/call-fixtures.ts';
import { fixedPrices } from '../../test/fixed-prices.ts';
import { startMutePostgres } from '../../test/mute-postgres.ts';
import { quietLog } from '../../test/quiet-log.ts';
import { openPool } from '../store/pool.ts';
import { startShipper } from './shipper.ts';

// The connection's own limit is a minute.
test('the shipper stops soon although the database hangs in the middle of a question', async () => {
  const database = await startMutePostgres({ greets: true });
  const spoolDir = mkdtempSync(join(tmpdir(), 'spool-'));
  const pool = openPool({
    connectionString: database.connectionString,
    max: 2,
    statementTimeoutMs: 60_000,
    applicationName: 'test',
    onIdleError: () => {},
  });
  try {
    const shipper = startShipper({ pool, spoolDir, prices: fixedPrices(priceByToken), log: quietLog() });
    while (database.questions() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await shipper.stop();
    expect(shipper.stats().rows).toBe(0);
  } finally {
    void pool.end(); // What hangs is closed with the server.
    await database.close();
    rmSync(spoolDir, { recursive: true });
  }
}, 5_000);
