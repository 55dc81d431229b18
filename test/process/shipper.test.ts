/** The shipper without a database that works; with one, see `test/database/shipper.test.ts`. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startShipper } from '../../src/control/shipper/shipper.ts';
import { openPool } from '../../src/control/store/pool.ts';
import { priceByToken } from '../support/call-fixtures.ts';
import { fixedPrices } from '../support/fixed-prices.ts';
import { startMutePostgres } from '../support/mute-postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

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

test('the room that a dead process put aside is given back while the database is away, a living one keeps its own', async () => {
  const database = await startMutePostgres({ greets: true });
  const spoolDir = mkdtempSync(join(tmpdir(), 'spool-'));
  const reserveOf = (name: string) => join(spoolDir, name, 'reserve.bin');
  for (const name of ['dead', 'live']) {
    mkdirSync(join(spoolDir, name));
    writeFileSync(reserveOf(name), Buffer.alloc(1000));
    writeFileSync(join(spoolDir, name, 'seg-00000001.log'), '');
  }
  const { connectionString } = database;
  const options = { max: 2, statementTimeoutMs: 100, applicationName: 'test', onIdleError: () => {} };
  const pool = openPool({ connectionString, ...options });
  try {
    const prices = fixedPrices(priceByToken);
    const shipper = startShipper({ pool, spoolDir, prices, log: quietLog(), deadAfterMs: 0 });
    shipper.setLiveSpools(['live']);
    while (existsSync(reserveOf('dead'))) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(existsSync(reserveOf('live'))).toBe(true);
    expect(existsSync(join(spoolDir, 'dead', 'seg-00000001.log'))).toBe(true);
    await shipper.stop();
  } finally {
    void pool.end(); // As above.
    await database.close();
    rmSync(spoolDir, { recursive: true });
  }
});
