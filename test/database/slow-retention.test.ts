/** A day that takes long to drop is given more time than other statements of its pool. */
import { expect, test } from 'vitest';
import { readDatabaseTime } from '../../src/control/store/database-clock.ts';
import { ensurePartitions } from '../../src/control/store/partitions.ts';
import { inTransaction, openPool } from '../../src/control/store/pool.ts';
import { applyRetention } from '../../src/control/store/retention.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres } from '../support/postgres.ts';

test.each(POSTGRES_KINDS)('$name: the roll-ups of a day may take longer than the pool allows', async (kind) => {
  const server = await startPostgres(kind);
  const url = await server.createDatabase('slow_day');
  const usual = openTestPool(url);
  await inTransaction(usual, (client) => ensurePartitions(client, ['2020-01-02']));
  // Made now for a day of long ago it would be kept for what comes late.
  for (const table of ['llm_requests', 'llm_bodies']) await usual.query(`comment on table ${table}_p20200102 is null`);
  const hasty = openPool({
    connectionString: url,
    max: 2,
    statementTimeoutMs: 200,
    applicationName: 'test',
    onIdleError: () => {},
  });
  const slowly = {
    pool: hasty,
    limits: { rowsDays: 90, bodiesDays: 14 },
    readTime: readDatabaseTime,
    cutRollups: async (client: { query: (text: string) => Promise<unknown> }) => {
      await client.query('select pg_sleep(1)');
    },
  };
  await expect(applyRetention(slowly)).rejects.toMatchObject({ code: '57014' });
  const { dropped } = await applyRetention({ ...slowly, dayLimitMs: 20_000 });
  expect(dropped).toEqual(['llm_requests_p20200102']);
  await hasty.end();
  await usual.end();
  await server.remove();
});
