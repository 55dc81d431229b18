/** Several nodes on one database: whose settings count, whose clock, and what becomes of one that is gone. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { createNodeClock, type NodeClock } from '../../src/control/process/node-clock.ts';
import { type NodePresence, startPresence } from '../../src/control/process/node-presence.ts';
import { closeGoneCalls } from '../../src/control/process/repeat-gone-nodes.ts';
import { sweepLog } from '../../src/control/process/repeat-retention.ts';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { readDatabaseTime } from '../../src/control/store/database-clock.ts';
import { forgetNodes, listNodes, listUnknownProcesses } from '../../src/control/store/nodes.ts';
import { type OwnSettings, readSharedSettings, setSharedSetting } from '../../src/control/store/shared-settings.ts';
import type { ClockReading } from '../../src/vocabulary/clock.ts';
import type { NodeRole } from '../../src/vocabulary/config.ts';
import { callBegin, callEnd, priceByToken } from '../support/call-fixtures.ts';
import { fixedPrices } from '../support/fixed-prices.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';
import { waitUntil } from './start-gateway.ts';

const DAY_MS = 86_400_000;
const DAYS_100_MS = 100 * DAY_MS;
const LONGER: OwnSettings = { retention_rows: { value: '365', isGiven: true } };
const SHORTER: OwnSettings = { retention_rows: { value: '30', isGiven: true } };
const USUAL: OwnSettings = { retention_rows: { value: '90', isGiven: false } };

describe.each(POSTGRES_KINDS)('nodes in $name', (kind) => {
  let server: TestPostgres;
  let url: string;
  let pool: pg.Pool;

  beforeAll(async () => {
    server = await startPostgres(kind);
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    url = await server.createDatabase();
    pool = openTestPool(url);
    return () => pool.end();
  });

  function clockAhead(ms: number, readings: ClockReading[] = []): NodeClock {
    return createNodeClock({
      onReading: (reading) => void readings.push(reading),
      sources: { wallMs: () => Date.now() + ms, monotonicMs: () => performance.now() },
    });
  }

  /** A node that lives until its test ends it, or dies without a word. */
  async function startNode(
    name: string,
    own: OwnSettings,
    {
      id = randomUUID(),
      clock = clockAhead(0),
      processes = [],
      role = 'all',
    }: {
      readonly id?: string;
      readonly clock?: NodeClock;
      readonly processes?: readonly string[];
      readonly role?: NodeRole;
    } = {},
  ): Promise<NodePresence & { readonly told: readonly unknown[]; readonly die: () => Promise<void> }> {
    const nodePool = openTestPool(url, { max: 1 });
    const told: unknown[] = [];
    const tell = (fields: unknown) => void told.push(fields);
    const presence = startPresence({
      pool: nodePool,
      id,
      name,
      version: '0.3.0',
      role,
      own,
      clock,
      log: { info: () => {}, warn: tell, error: tell },
      readLoad: async () => ({ recordsWaiting: 7, openCalls: 2, processes }),
    });
    await waitUntil('the first sign of life', () => (presence.shared() === null ? undefined : true));
    const stop = async () => {
      await presence.stop();
      await nodePool.end();
    };
    return {
      ...presence,
      told,
      stop,
      die: async () => {
        await stop();
        await pool.query('update nodes set stopped_at = null where id = $1', [id]);
      },
    };
  }

  async function rowsKept(): Promise<string | undefined> {
    return (await readSharedSettings(pool))?.retention_rows.value;
  }

  async function storeCallAt(number: number, requestedAtMs: number, traceId: string | null = null): Promise<void> {
    const session = await openIngestSession(pool);
    const begin = callBegin(number, { requestedAtMs, traceId });
    const end = callEnd(number, { respondedAtMs: requestedAtMs + 10 });
    const context = { process: 'p', priceCall: priceByToken, nowMs: requestedAtMs };
    await session.ingest(buildBatch([{ type: 'end', begin, end }], context).items);
    session.close();
  }

  /** As if their days had been made when they were new. */
  async function forgetLateness(): Promise<void> {
    const { rows } = await pool.query<{ name: string }>(
      "select relname as name from pg_class where obj_description(oid, 'pg_class') like 'made late at %'",
    );
    for (const { name } of rows) await pool.query(`comment on table ${name} is null`);
  }

  async function countCalls(): Promise<number> {
    return (await pool.query<{ n: number }>('select count(*) as n from llm_requests')).rows[0]?.n ?? -1;
  }

  test('the first start writes the settings of all; a longer one is taken over, a shorter one is told', async () => {
    const first = await startNode('a', USUAL);
    expect(await rowsKept()).toBe('90');
    const second = await startNode('b', LONGER);
    expect(await rowsKept()).toBe('365');
    const third = await startNode('c', SHORTER);
    expect(await rowsKept()).toBe('365');
    expect(third.told).toEqual([
      expect.objectContaining({ setting: 'retention_rows', ownValue: '30', inForce: '365' }),
    ]);
    const fourth = await startNode('d', USUAL);
    expect(await rowsKept()).toBe('365');
    for (const node of [first, second, third, fourth]) await node.stop();
  });

  test('a node that is alone may shorten what is kept by its next start, one that has been beside others may not', async () => {
    const id = randomUUID();
    await (await startNode('a', LONGER, { id })).stop();
    await (await startNode('a', SHORTER, { id })).stop();
    expect(await rowsKept()).toBe('30');
    await (await startNode('a', LONGER, { id })).stop();
    await (await startNode('b', SHORTER)).stop();
    await (await startNode('a', SHORTER, { id })).stop();
    expect(await rowsKept()).toBe('365');
  });

  test('a node that only takes calls settles nothing, also as the first, and is nobody beside whom another is not alone', async () => {
    const proxy = randomUUID();
    const pooled = openTestPool(url, { max: 1 });
    const presence = startPresence({
      pool: pooled,
      id: proxy,
      name: 'p',
      version: '0.3.0',
      role: 'proxy',
      own: {},
      clock: clockAhead(0),
      log: { info: () => {}, warn: () => {}, error: () => {} },
      readLoad: async () => ({ recordsWaiting: 0, openCalls: 0, processes: [] }),
    });
    await waitUntil('its row', async () => ((await listNodes(pool)).length === 1 ? true : undefined));
    expect(await rowsKept()).toBe(undefined);
    const id = randomUUID();
    await (await startNode('c', LONGER, { id, role: 'control' })).stop();
    await (await startNode('c', SHORTER, { id, role: 'control' })).stop();
    expect(await rowsKept()).toBe('30');
    // A release that knows no roles writes none, and did everything.
    await pool.query(
      "insert into nodes select $1, 'old', host, version, $1, started_at, seen_at - interval '1 minute', null, null, 0, null, null, 0, 0, '{}', '{}' from nodes limit 1",
      [randomUUID()],
    );
    expect((await listNodes(pool)).map(({ name, role }) => `${name} ${role}`).sort()).toEqual([
      'c control',
      'old all',
      'p proxy',
    ]);
    await presence.stop();
    await pooled.end();
  });

  test('what an operator has said for all nodes is changed by no start', async () => {
    const id = randomUUID();
    await (await startNode('a', LONGER, { id })).stop();
    await setSharedSetting(pool, 'retention_rows', { value: '60', setBy: 'operator', actor: 'test' });
    await (await startNode('a', LONGER, { id })).stop();
    await (await startNode('a', SHORTER, { id })).stop();
    expect(await rowsKept()).toBe('60');
  });

  test('of a log that goes back further than the first setting nothing is dropped until somebody says so', async () => {
    const nowMs = await readDatabaseTime(pool);
    await storeCallAt(1, nowMs - 200 * DAY_MS);
    await forgetLateness();
    const node = await startNode('b', USUAL);
    expect(await readSharedSettings(pool)).toMatchObject({ retention_rows: { value: '36500', setBy: 'log' } });
    expect(await sweepLog(pool, clockAhead(0))).toMatchObject({ dropped: [] });
    expect(await countCalls()).toBe(1);
    await setSharedSetting(pool, 'retention_rows', { value: '90', setBy: 'operator', actor: 'test' });
    await sweepLog(pool, clockAhead(0));
    expect(await countCalls()).toBe(0);
    await node.stop();
  });

  test.each([
    ['100 days ahead', DAYS_100_MS],
    ['100 days behind', -DAYS_100_MS],
    ['three minutes ahead', 180_000],
  ])('a node whose clock is %s drops nothing, and says so', async (_, skewMs) => {
    const nowMs = await readDatabaseTime(pool);
    for (const [number, daysAgo] of [0, 5, 20, 89].entries()) await storeCallAt(number + 1, nowMs - daysAgo * DAY_MS);
    await forgetLateness();
    const clock = clockAhead(skewMs);
    const node = await startNode('wrong', USUAL, { clock });
    expect(await sweepLog(pool, clock)).toBe('wrong clock');
    expect(await countCalls()).toBe(4);
    expect(node.told).toContainEqual({ skewMs: expect.any(Number), limitMs: 120_000 });
    const [listed] = await listNodes(pool);
    expect(Math.round((listed?.clockSkewMs ?? 0) / 60_000)).toBe(Math.round(skewMs / 60_000));
    await node.stop();
  });

  test('a node with a right clock drops what is past by the clock of the database, and no day that is not over', async () => {
    const nowMs = await readDatabaseTime(pool);
    const node = await startNode('right', USUAL);
    for (const [number, daysAgo] of [-3, 0, 89, 92].entries()) await storeCallAt(number + 1, nowMs - daysAgo * DAY_MS);
    await forgetLateness();
    await sweepLog(pool, clockAhead(0));
    expect(await countCalls()).toBe(3);
    await node.stop();
  });

  test('what comes when its day was long dropped stays for a week, so that a person can still lengthen the limit', async () => {
    const nowMs = await readDatabaseTime(pool);
    const node = await startNode('right', USUAL);
    await storeCallAt(1, nowMs - 200 * DAY_MS);
    await sweepLog(pool, clockAhead(0));
    expect(await countCalls()).toBe(1);
    const day = new Date(nowMs - 200 * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
    const eightDaysAgo = new Date(nowMs - 8 * DAY_MS).toISOString();
    await pool.query(`comment on table llm_requests_p${day} is 'made late at ${eightDaysAgo}'`);
    await sweepLog(pool, clockAhead(0));
    expect(await countCalls()).toBe(0);
    await node.stop();
  });

  test('when days lie between two signs of life by the clock of the database, nothing is dropped for one more', async () => {
    const id = randomUUID();
    const nowMs = await readDatabaseTime(pool);
    await (await startNode('a', USUAL, { id })).stop();
    await storeCallAt(1, nowMs - 92 * DAY_MS);
    await forgetLateness();
    // As if the clock of the database had jumped by three days.
    await pool.query("update nodes set seen_at = seen_at - interval '3 days'");
    const node = await startNode('a', USUAL, { id });
    expect(await sweepLog(pool, clockAhead(0))).toBe('paused');
    await node.stop();
    expect(await countCalls()).toBe(1);
    await pool.query(
      "update deployment_settings set value = (now() - interval '1 minute')::text where name = 'retention_paused_until'",
    );
    expect(await sweepLog(pool, clockAhead(0))).toMatchObject({ dropped: [1, 2, 3].map(() => expect.any(String)) });
    // Noted by a clock that was 100 days ahead.
    await pool.query(
      "update deployment_settings set value = (now() + interval '100 days')::text where name = 'retention_paused_until'",
    );
    expect(await sweepLog(pool, clockAhead(0))).toMatchObject({ dropped: [] });
  });

  test('while a node lives, one of a release that knows no common settings cannot drop a day', async () => {
    const formerLock = async () => {
      const { rows } = await pool.query<{ got: boolean }>('select pg_try_advisory_xact_lock(7461003) as got');
      return rows[0]?.got;
    };
    const node = await startNode('new', USUAL);
    expect(await formerLock()).toBe(false);
    await node.stop();
    // A connection that is closed gives its locks back a moment later.
    await waitUntil('the lock', async () => ((await formerLock()) === true ? true : undefined));
  });

  test('the time of a node with a wrong clock is that of the database, and a jump of its clock moves nothing', async () => {
    let aheadMs = DAYS_100_MS;
    const readings: ClockReading[] = [];
    const clock = createNodeClock({
      onReading: (reading) => void readings.push(reading),
      sources: { wallMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() },
    });
    await clock.compare(pool);
    expect(Math.abs(clock.nowMs() - (await readDatabaseTime(pool)))).toBeLessThan(5_000);
    expect(readings).toEqual([{ epochMs: expect.any(Number), isCorrected: true }]);
    aheadMs = 0;
    expect(Math.round(clock.watch() / 1_000)).toBe(-DAYS_100_MS / 1_000);
    await clock.compare(pool);
    expect(readings).toHaveLength(2);
    expect(readings[1]?.isCorrected).toBe(false);
    aheadMs = 3_600_000;
    expect(Math.round(clock.watch() / 1_000)).toBe(3_600);
    await clock.compare(pool);
    expect(Math.abs(clock.nowMs() - (await readDatabaseTime(pool)))).toBeLessThan(5_000);
    expect(clock.state()).toMatchObject({ steppedAtMs: expect.any(Number), stepMs: expect.any(Number) });
  });

  test('nodes are shown with what they have left, silent after a quarter of an hour, and can be forgotten then', async () => {
    const gone = await startNode('gone', USUAL);
    const stays = await startNode('stays', USUAL);
    await gone.die();
    await pool.query("update nodes set seen_at = seen_at - interval '16 minutes' where name = 'gone'");
    expect(await listNodes(pool)).toEqual([
      expect.objectContaining({ name: 'stays', state: 'live', version: '0.3.0', recordsWaiting: 7, openCalls: 2 }),
      expect.objectContaining({ name: 'gone', state: 'silent', recordsWaiting: 7, openCalls: 2 }),
    ]);
    expect(await forgetNodes(pool, 1, 'stays')).toEqual({ forgotten: 0, live: 1 });
    expect(await forgetNodes(pool, 1, 'gone')).toEqual({ forgotten: 1, live: 0 });
    await stays.stop();
    expect(await listNodes(pool)).toEqual([expect.objectContaining({ name: 'stays', state: 'stopped' })]);
  });

  test('a spool of which no node is known is told from those of the nodes, by its folders or by the id of its node', async () => {
    const node = await startNode('known', USUAL, { processes: ['p-1', 'p-2'] });
    expect(await listUnknownProcesses(pool, ['p-2', 'of-another', 'p-1'], null)).toEqual(['of-another']);
    expect(await listUnknownProcesses(pool, ['of-another'], randomUUID())).toEqual(['of-another']);
    expect(await listUnknownProcesses(pool, ['of-another'], node.id)).toEqual([]);
    await node.stop();
  });

  test('two nodes of one name are two, and two runs that give themselves one id are found out', async () => {
    const id = randomUUID();
    const first = await startNode('same', USUAL, { id });
    const other = await startNode('same', USUAL);
    expect((await listNodes(pool)).map(({ name }) => name)).toEqual(['same', 'same']);
    const copy = await startNode('same', USUAL, { id });
    const isDoubled = async () =>
      (await listNodes(pool)).find((node) => node.id === id)?.isDoubled === true ? true : undefined;
    await waitUntil('the second sign of one of them', isDoubled, 40_000);
    for (const node of [first, other, copy]) await node.stop();
  });

  test('open calls of a node that is gone are closed after the time for it, and an ending that turns up replaces that', async () => {
    const nowMs = await readDatabaseTime(pool);
    const node = await startNode('gone', USUAL, { processes: ['gone-p0'] });
    const begin = callBegin(1, { requestedAtMs: nowMs - 1_000, traceId: 'run', ordinal: 5 });
    const session = await openIngestSession(pool);
    const context = { process: 'gone-p0', priceCall: priceByToken, nowMs };
    await session.ingest(buildBatch([{ type: 'begin', begin }], context).items);
    await node.die();
    const quarantineDir = mkdtempSync(join(tmpdir(), 'tollgate-nodes-'));
    const log = quietLog();
    const close = () =>
      closeGoneCalls({ pool, prices: fixedPrices(priceByToken), quarantineDir, log, nowMs: () => nowMs }, 24);
    await pool.query("update nodes set seen_at = seen_at - interval '23 hours'");
    expect(await close()).toBe(0);
    await pool.query("update nodes set seen_at = seen_at - interval '2 hours'");
    expect(await close()).toBe(1);
    expect(await close()).toBe(0);
    const outcomes = async () => (await pool.query('select outcome, total_cost from llm_requests')).rows;
    expect(await outcomes()).toEqual([{ outcome: 'interrupted', total_cost: null }]);
    expect((await pool.query('select from llm_open_calls')).rowCount).toBe(0);
    expect(await verifyRollups(pool)).toEqual([]);

    const end = callEnd(1, { respondedAtMs: nowMs });
    const late = buildBatch([{ type: 'end', begin, end }], context).items;
    expect(await session.ingest(late)).toBe(1);
    expect(await session.ingest(late)).toBe(0);
    expect(await outcomes()).toEqual([{ outcome: 'ok', total_cost: expect.any(String) }]);
    expect(await verifyRollups(pool)).toEqual([]);
    session.close();
    rmSync(quarantineDir, { recursive: true, force: true });
  });

  test('an open call of a process that no node has is closed after a day, a younger one is not', async () => {
    const nowMs = await readDatabaseTime(pool);
    const session = await openIngestSession(pool);
    const context = { process: 'older-release', priceCall: priceByToken, nowMs };
    const entries = [25, 23].map((hours, index) => {
      const begin = callBegin(index + 1, { requestedAtMs: nowMs - hours * 3_600_000 });
      return { type: 'begin', begin } as const;
    });
    await session.ingest(buildBatch(entries, context).items);
    session.close();
    const options = { pool, prices: fixedPrices(priceByToken), quarantineDir: tmpdir(), log: quietLog() };
    expect(await closeGoneCalls({ ...options, nowMs: () => nowMs }, 1)).toBe(1);
    expect((await pool.query('select from llm_open_calls')).rowCount).toBe(1);
  });
});
