/** A fail-over: the server that is reached takes questions and no changes, until it becomes the primary. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { toApiError } from '../../src/control/admin/api-error.ts';
import { startShipper } from '../../src/control/shipper/shipper.ts';
import { judgeDatabase } from '../../src/control/store/judge-database.ts';
import { openSpoolWriter } from '../../src/spool/spool-writer.ts';
import { callBegin, callEnd, priceByToken } from '../support/call-fixtures.ts';
import { fixedPrices } from '../support/fixed-prices.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

test.each(POSTGRES_KINDS)('$name: a standby is waited for, and used once it is the primary', async (kind) => {
  const server = await startPostgres(kind);
  const url = await server.createDatabase('log');
  await server.stop();
  writeFileSync(join(new URL(url).searchParams.get('host') ?? '', 'data', 'standby.signal'), '');
  await server.start();

  const said = 'the database is a standby that takes no changes; waiting for the primary';
  await expect(judgeDatabase({ connectionString: url, applicationName: 'test' })).rejects.toThrow(said);
  const pool = openTestPool(url);
  const refused = await pool.query('select 1').catch((error: unknown) => error);
  expect(toApiError(refused)).toMatchObject({ status: 503, code: 'database_unavailable' });

  const root = mkdtempSync(join(tmpdir(), 'fail-over-'));
  const spool = openSpoolWriter({ dir: join(root, 'spool', 'p1'), durability: 'process', log: quietLog() });
  await new Promise((resolve) => spool.begin(callBegin(1), resolve));
  await new Promise((resolve) => spool.end(callBegin(1), callEnd(1), [], resolve));
  const prices = fixedPrices(priceByToken);
  const shipper = startShipper({ pool, spoolDir: join(root, 'spool'), prices, log: quietLog() });
  expect(await shipper.drain(500)).toBe(false);
  expect(shipper.stats().waitingFor).toBe(`StandbyError: ${said}`);

  const operator = new pg.Client({ connectionString: url });
  await operator.connect();
  await operator.query('select pg_promote()');
  await operator.end();
  expect(await shipper.drain(30_000)).toBe(true);
  expect((await pool.query('select from llm_requests')).rowCount).toBe(1);
  await shipper.stop();
  await spool.close();
  await pool.end();
  await server.remove();
  rmSync(root, { recursive: true });
});
