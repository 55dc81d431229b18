import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openPool } from '../store/pool.ts';
import { repeatMigration } from './repeat-migration.ts';

test('before the database was looked at, the start is why it is not used; then what was found', async () => {
  const connectionString = 'postgresql://127.0.0.1:1/nobody';
  const onIdleError = () => {};
  const pool = openPool({ connectionString, max: 1, statementTimeoutMs: 1_000, applicationName: 'test', onIdleError });
  const onMigrated = () => Promise.resolve();
  const { problem, stop } = repeatMigration({
    pool,
    connectionString,
    role: 'all',
    migrationsDir: '.',
    log: pino({ level: 'silent' }),
    onMigrated,
  });
  expect(problem()).toBe('the gateway has just started, and looks at it or brings its tables up to date');
  while (problem()?.includes('just started')) await sleep(10);
  expect(problem()).toMatch(/ECONNREFUSED/);
  await stop();
  await pool.end();
});
