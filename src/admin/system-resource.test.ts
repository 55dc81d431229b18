import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { fixedPrices } from '../../test/fixed-prices.ts';
import { type MutePostgres, startMutePostgres } from '../../test/mute-postgres.ts';
import { NO_ACCOUNTS_DEP } from '../../test/no-accounts.ts';
import { NO_BACKUPS } from '../../test/no-backups.ts';
import { testCatalogs } from '../../test/test-catalogs.ts';
import { openPool } from '../store/pool.ts';
import { createAdminApp } from './admin-app.ts';

const HEADERS = { host: '127.0.0.1', authorization: 'Bearer token' };

async function askBoth(database: MutePostgres): Promise<readonly unknown[]> {
  const pool = openPool({
    connectionString: database.connectionString,
    max: 2,
    statementTimeoutMs: 30_000,
    applicationName: 'test',
    onIdleError: () => {},
  });
  const app = createAdminApp({
    accountId: 1,
    adminToken: 'token',
    adminHost: '127.0.0.1',
    publicUrl: null,
    baseUrl: 'http://127.0.0.1:4141',
    version: '1.2.3',
    dashboard: null,
    database: () => pool,
    publishKeys: () => Promise.resolve(true),
    readSupervisorStatus: () => Promise.resolve(null),
    requestRestart: async () => null,
    readShipperStatus: () => null,
    readSpoolStatus: () => Promise.resolve({ bytes: 5, limitBytes: 9, isDiskLow: false }),
    accounts: NO_ACCOUNTS_DEP,
    metricsToken: null,
    countRunningJobs: () => Promise.resolve(0),
    demoData: {
      countCalls: () => Promise.resolve(0),
      readKeyId: () => Promise.resolve(null),
      load: () => Promise.resolve(0),
      remove: () => Promise.resolve(0),
    },
    settings: [{ name: 'TOLLGATE_PORT', value: '4141', source: 'default' }],
    prices: fixedPrices(),
    catalogs: testCatalogs(),
    backups: NO_BACKUPS,
    log: pino({ level: 'silent' }),
  });
  try {
    const answers = await Promise.all([
      app.request('http://127.0.0.1/readyz', { headers: HEADERS }),
      app.request('http://127.0.0.1/api/v1/status', { headers: HEADERS }),
    ]);
    return await Promise.all(answers.map((answer) => answer.json()));
  } finally {
    void pool.end(); // What hangs is closed with the server.
    await database.close();
  }
}

const DOWN = [
  { status: 'degraded', database: 'down' },
  expect.objectContaining({ version: '1.2.3', database: expect.objectContaining({ state: 'down' }) }),
];

// The limits of the driver itself are longer than the 4 s of these tests.
describe('readiness and status answer soon', () => {
  it('when the database takes connections and says nothing', async () => {
    expect(await askBoth(await startMutePostgres({ greets: false }))).toEqual(DOWN);
  }, 4_000);

  it('when the database hangs in the middle of a connection', async () => {
    expect(await askBoth(await startMutePostgres({ greets: true }))).toEqual(DOWN);
  }, 4_000);
});
