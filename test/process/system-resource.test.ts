import { describe, expect, it } from 'vitest';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import { openPool } from '../../src/control/store/pool.ts';
import { bareAdminDeps } from '../support/admin-deps.ts';
import { type MutePostgres, startMutePostgres } from '../support/mute-postgres.ts';

const HEADERS = { host: '127.0.0.1', authorization: 'Bearer token' };

async function askBoth(database: MutePostgres): Promise<readonly unknown[]> {
  const pool = openPool({
    connectionString: database.connectionString,
    max: 2,
    statementTimeoutMs: 30_000,
    applicationName: 'test',
    onIdleError: () => {},
  });
  const app = createAdminApp(
    bareAdminDeps({
      adminToken: 'token',
      database: () => pool,
      readSpoolStatus: async () => ({ bytes: 5, limitBytes: 9, isDiskLow: false }),
      settings: [{ name: 'TOLLGATE_PORT', value: '4141', source: 'default' }],
    }),
  );
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
  { status: 'degraded', database: 'down', problem: null },
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

it('why the database is not used is said by readiness and status', async () => {
  const problem = 'waiting for the lock of the migrations, which process 7 holds';
  const app = createAdminApp(bareAdminDeps({ adminToken: 'token', databaseProblem: () => problem }));
  const ask = async (path: string) => (await app.request(`http://127.0.0.1${path}`, { headers: HEADERS })).json();
  expect(await ask('/readyz')).toEqual({ status: 'degraded', database: 'down', problem });
  expect(await ask('/api/v1/status')).toMatchObject({ database: { state: 'down', problem } });
});
