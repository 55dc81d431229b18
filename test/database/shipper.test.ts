import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { type CurrentPriceBook, createCurrentPriceBook } from '../../src/control/prices/declared/current-price-book.ts';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { type Shipper, startShipper } from '../../src/control/shipper/shipper.ts';
import { insertKey, listKeys, revokeKey } from '../../src/control/store/gateway-keys.ts';
import { migrate } from '../../src/control/store/migrate.ts';
import { readKeySnapshot } from '../../src/control/store/read-key-snapshot.ts';
import type { PriceCall } from '../../src/pricing/billable-call.ts';
import { openSpoolWriter, type SpoolWriter } from '../../src/spool/spool-writer.ts';
import type { CallEnd, SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { waitUntil } from '../gateway/start-gateway.ts';
import {
  callBegin,
  callBody,
  callCheckpoint,
  callEnd,
  callId,
  NOON_MS,
  priceByToken,
} from '../support/call-fixtures.ts';
import { fixedPrices } from '../support/fixed-prices.ts';
import { MIGRATIONS, openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { type QuietLog, quietLog } from '../support/quiet-log.ts';

const DRAIN_MS = 20_000;

describe.each(POSTGRES_KINDS)('the shipper into $name', (kind) => {
  let server: TestPostgres;
  let pool: pg.Pool;
  let root: string;
  let spoolDir: string;
  let log: QuietLog;
  const stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    server = await startPostgres(kind);
  });
  afterAll(() => server.remove());

  beforeEach(async () => {
    const connectionString = await server.createDatabase();
    pool = openTestPool(connectionString, { max: 8 });
    root = mkdtempSync(join(tmpdir(), 'spool-'));
    spoolDir = join(root, 'spool');
    log = quietLog();
    return async () => {
      for (const stop of stops.splice(0)) await stop();
      await pool.end();
      rmSync(root, { recursive: true });
    };
  });

  function writer(name: string): SpoolWriter {
    const opened = openSpoolWriter({ dir: join(spoolDir, name), durability: 'process', log });
    stops.push(() => opened.close());
    return opened;
  }

  function shipper(): Shipper {
    const started = startShipper({ pool, spoolDir, prices: fixedPrices(priceByToken), log, deadAfterMs: 0 });
    stops.push(() => started.stop());
    return started;
  }

  function written(append: (done: (kept: boolean) => void) => void): Promise<boolean> {
    return new Promise(append);
  }

  async function writeCall(spool: SpoolWriter, number: number, traceId: string | null = null): Promise<void> {
    const begin = callBegin(number, { traceId });
    await written((done) => spool.begin(begin, done));
    await written((done) => spool.end(begin, callEnd(number), [], done));
  }

  async function queryOne(sql: string): Promise<Record<string, unknown>> {
    const { rows } = await pool.query(sql);
    expect(rows).toHaveLength(1);
    return rows[0];
  }

  /** Each reading is followed by another change, unless changes have to wait. */
  function restlessPrices(changes: Promise<unknown>[]): CurrentPriceBook {
    const current = createCurrentPriceBook();
    return {
      ...current,
      refresh: async (client) => {
        const isNew = await current.refresh(client);
        const change = pool.query('update price_book_version set version = version + 1');
        changes.push(change);
        await Promise.race([change, sleep(100)]);
        return isNew;
      },
    };
  }

  test('a folder that somebody copies into the spool, and pauses, is stored whole and not taken away under the copy', async () => {
    const elsewhere = join(root, 'elsewhere');
    const gone = openSpoolWriter({ dir: join(elsewhere, 'gone'), durability: 'process', log });
    for (let number = 1; number <= 40; number += 1) await writeCall(gone, number);
    await gone.close();
    const ship = startShipper({
      pool,
      spoolDir,
      prices: fixedPrices(priceByToken),
      log,
      deadAfterMs: 0,
      foreignQuietMs: 400,
    });
    stops.push(() => ship.stop());
    ship.setLiveSpools([]);
    expect(await ship.drain(10_000)).toBe(true);
    const bytes = readFileSync(join(elsewhere, 'gone', 'seg-00000001.log'));
    const half = Math.floor((bytes.length * 2) / 3);
    mkdirSync(join(spoolDir, 'gone'), { recursive: true });
    writeFileSync(join(spoolDir, 'gone', 'seg-00000001.log'), bytes.subarray(0, half));
    // A folder without records holds nothing back.
    mkdirSync(join(spoolDir, 'empty'));
    await sleep(1_500);
    expect(await ship.drain(1_000)).toBe(false);
    appendFileSync(join(spoolDir, 'gone', 'seg-00000001.log'), bytes.subarray(half));
    await waitUntil('all rows', async () => {
      const { rows } = await pool.query<{ calls: number }>('select count(*) as calls from llm_requests');
      return rows[0]?.calls === 40 ? true : undefined;
    });
    expect(await ship.drain(10_000)).toBe(true);
    expect(ship.stats()).toMatchObject({ rows: 40, corruptBytes: 0, quarantined: 0 });
  });

  test('prices that change without end do not keep a call from the log', async () => {
    const spool = writer('p1');
    await writeCall(spool, 1);
    const changes: Promise<unknown>[] = [];
    const ship = startShipper({ pool, spoolDir, prices: restlessPrices(changes), log, deadAfterMs: 0 });
    stops.push(() => ship.stop());
    expect(await ship.drain(DRAIN_MS)).toBe(true);
    expect(await queryOne('select count(*) from llm_requests')).toEqual({ count: 1 });
    expect(log.messages).toEqual([]);
    await Promise.all(changes);
  });

  test('calls whose costs are nonsense do not keep each other from the log', async () => {
    const spool = writer('p1');
    for (const number of [1, 2, 3]) await writeCall(spool, number, 'run 1');
    const dear = 900_000_000_000n * 10n ** 12n;
    const priceCall: PriceCall = (call) => ({ ...priceByToken(call), totalCost: dear, knownCost: dear });
    const ship = startShipper({ pool, spoolDir, prices: fixedPrices(priceCall), log, deadAfterMs: 0 });
    stops.push(() => ship.stop());
    expect(await ship.drain(DRAIN_MS)).toBe(true);
    expect(log.messages).toEqual([]);
    expect(await queryOne('select calls, total_cost from llm_runs')).toEqual({
      calls: 3,
      total_cost: '2700000000000.000000000000',
    });
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('a record of which the newer prices cannot make a row is put aside and not forgotten', async () => {
    const spool = writer('p1');
    await writeCall(spool, 1);
    await writeCall(spool, 2);
    const broken: PriceCall = (call) => {
      if (call.requestedAtMs === NOON_MS + 1) throw new Error('no such price');
      return priceByToken(call);
    };
    const books = [{ priceCall: priceByToken }, { priceCall: broken }];
    let version = 0;
    const prices = {
      priceCall: (call: Parameters<PriceCall>[0]) =>
        (books[version] ?? books[1] ?? fixedPrices().book(1)).priceCall(call),
      version: () => version,
      refresh: () => {
        version = 1;
        return Promise.resolve();
      },
    };
    const ship = startShipper({ pool, spoolDir, prices, log, deadAfterMs: 0 });
    stops.push(() => ship.stop());
    expect(await ship.drain(DRAIN_MS)).toBe(true);
    expect(await queryOne('select count(*) from llm_requests')).toEqual({ count: 1 });
    expect(ship.stats()).toMatchObject({ rows: 1, quarantined: 1 });
    expect(log.messages).toEqual(['no row could be made of a record; it was put aside']);
  });

  test('a stop in the middle of a batch that hangs ends soon, and the next start stores the call once', async () => {
    const spool = writer('p1');
    await writeCall(spool, 1);
    const hanging = shipper();
    expect(await hanging.drain(DRAIN_MS)).toBe(true);
    const other = await pool.connect();
    try {
      await other.query('begin');
      await other.query('lock table llm_requests');
      await writeCall(spool, 2);
      for (;;) {
        const { rows } = await pool.query("select 1 from pg_stat_activity where wait_event_type = 'Lock'");
        if (rows.length > 0) break;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await hanging.stop();
      // Closed, and not only left behind: the statement's own limit is 10 s.
      expect(hanging.stats().waitingFor).toContain('Connection terminated');
    } finally {
      await other.query('rollback');
      other.release();
    }
    expect(await shipper().drain(DRAIN_MS)).toBe(true);
    expect(await queryOne('select count(*) from llm_requests')).toEqual({ count: 2 });
  }, 9_000);

  test('a call in the spool becomes one row, with its cost, its run and its bodies', async () => {
    const spool = writer('p1');
    const begin = callBegin(1, {
      traceId: 'run 1',
      spanPath: '/plan//step%201/',
      metadata: [['Feature', 'a\0b\ud800']],
    });
    const text = '{"messages":[{"role":"user","content":"hello"}]}'.repeat(50);
    const bodies = [callBody(1, 'request', Buffer.from(text)), callBody(1, 'response', Buffer.from('{}'))];
    await written((done) => spool.begin(begin, done));
    const end = callEnd(1, { responseHeaders: [['content-type', 'application/json']] });
    await written((done) => spool.end(begin, end, bodies, done));
    expect(await shipper().drain(DRAIN_MS)).toBe(true);
    const row = await queryOne('select * from llm_requests');
    expect(row).toMatchObject({
      id: callId(1),
      requested_at: new Date(NOON_MS + 1),
      span_path: '/plan//step%201/',
      span_key: 'plan/step%201',
      span_name: 'gpt-5',
      input_tokens: 101,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: null,
      output_tokens: 7,
      total_cost: '0.000171000000',
      cost_status: 'exact',
      raw_metadata: { Feature: 'a\uFFFDb\uFFFD' },
      indexed_metadata: {},
      responded_at: new Date(NOON_MS + 1501),
      flags: ['text_replaced'],
    });
    expect(await queryOne('select trace_id, calls, unpriced_calls, total_cost from llm_runs')).toEqual({
      trace_id: 'run 1',
      calls: 1,
      unpriced_calls: 0,
      total_cost: '0.000171000000',
    });
    const body = await queryOne('select * from llm_bodies');
    expect(body).toMatchObject({ request_packing: 'zstd', response_packing: 'none', response_head_bytes: 2 });
    expect(body['headers']).toEqual({ request: [], response: [['content-type', 'application/json']] });
    expect(body['request'] instanceof Buffer && zstdDecompressSync(body['request']).toString()).toBe(text);
    expect(await verifyRollups(pool)).toEqual([]);
    expect(log.messages).toEqual([]);
  });

  test('a call of an agent that names no session is in the run of its first tool call, which its answer has', async () => {
    const spool = writer('one');
    const begin = callBegin(1, { traceId: null, isPlacedByToolCalls: true });
    const asked = '{"messages":[{"role":"user","content":"x"}]}';
    const answer = '{"content":[{"type":"tool_use","id":"toolu_01B6fKfDIJfVeA3tLzsRhTC2","name":"bash","input":{}}]}';
    const bodies = [callBody(1, 'request', Buffer.from(asked)), callBody(1, 'response', Buffer.from(answer))];
    await written((done) => spool.end(begin, callEnd(1), bodies, done));
    expect(await shipper().drain(DRAIN_MS)).toBe(true);
    expect(await queryOne('select trace_id, trace_source from llm_requests')).toEqual({
      trace_id: 'tool_call:toolu_01B6fKfDIJfVeA3tLzsRhTC2',
      trace_source: 'tool_calls',
    });
    expect(await queryOne('select calls from llm_runs')).toEqual({ calls: 1 });
  });

  test('an open call is listed until its ending comes', async () => {
    const spool = writer('p1');
    const begin = callBegin(1, { traceId: 't' });
    const ship = shipper();
    await written((done) => spool.begin(begin, done));
    expect(await ship.drain(DRAIN_MS)).toBe(true);
    expect(await queryOne('select id, process, span_name, trace_id from llm_open_calls')).toEqual({
      id: callId(1),
      process: 'p1',
      span_name: 'gpt-5',
      trace_id: 't',
    });
    await written((done) => spool.end(begin, callEnd(1), [], done));
    expect(await ship.drain(DRAIN_MS)).toBe(true);
    expect((await pool.query('select from llm_open_calls')).rowCount).toBe(0);
    expect((await pool.query('select from llm_requests')).rowCount).toBe(1);
  });

  test('the same records three times, shuffled, in four shippers at once, make one row each and exact roll-ups', async () => {
    const entries = Array.from({ length: 1200 }, (_, number): SpoolEntry => {
      const traceId = number % 5 === 0 ? null : `run-${number % 40}`;
      const overrides: Partial<CallEnd> =
        number % 11 === 0 ? { usage: null, usageSource: 'none', outcome: 'upstream_error' } : {};
      // Every third call arrived a day earlier: the roll-ups cross a partition.
      const requestedAtMs = NOON_MS + number - (number % 3 === 0 ? 86_400_000 : 0);
      return {
        type: 'end',
        begin: callBegin(number, { traceId, requestedAtMs }),
        end: callEnd(number, { ...overrides, respondedAtMs: requestedAtMs + number }),
      };
    });
    const work = [0, 1, 2].flatMap((round) => {
      const shuffled = shuffle(entries, round + 1);
      return Array.from({ length: 12 }, (_, index) => shuffled.slice(index * 100, index * 100 + 100));
    });
    const context = { process: 'p', priceCall: priceByToken, nowMs: NOON_MS };
    let inserted = 0;
    await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const session = await openIngestSession(pool);
        stops.push(async () => session.close());
        for (let batch = work.pop(); batch !== undefined; batch = work.pop()) {
          const rows = await session.ingest(buildBatch(batch, context).items);
          inserted += rows;
        }
      }),
    );
    expect(inserted).toBe(1200);
    expect(await queryOne('select count(*) as rows, sum(total_cost) as cost from llm_requests')).toMatchObject({
      rows: 1200,
    });
    expect((await pool.query('select from llm_runs')).rowCount).toBe(40 - 8);
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('verify finds a roll-up that is wrong by the smallest amount', async () => {
    await writeCall(writer('p1'), 1, 't');
    await shipper().drain(DRAIN_MS);
    await pool.query('update llm_runs set total_cost = total_cost + 0.000000000001');
    expect((await verifyRollups(pool)).map(({ rollup, side }) => `${rollup} ${side}`).sort()).toEqual([
      'llm_runs records',
      'llm_runs rollup',
    ]);
  });

  test('what a dead process left open is interrupted, with the usage of its last checkpoint', async () => {
    const spool = writer('dead');
    await written((done) => spool.begin(callBegin(1, { traceId: 't' }), done));
    await written((done) => spool.begin(callBegin(2, { traceId: 't' }), done));
    await written((done) => spool.checkpoint(callCheckpoint(2), done));
    await written((done) => spool.begin(callBegin(3, { traceId: 't' }), done));
    const reading = { ...callCheckpoint(3).reading, terminal: true };
    await written((done) => spool.checkpoint(callCheckpoint(3, { reading }), done));
    const ship = shipper();
    await ship.drain(DRAIN_MS);
    expect((await pool.query('select from llm_open_calls')).rowCount).toBe(3);
    await spool.close();
    ship.setLiveSpools(['another']);
    expect(await ship.drain(DRAIN_MS)).toBe(true);
    const { rows } = await pool.query(
      'select outcome, status, usage_source, output_tokens, total_cost from llm_requests order by id',
    );
    expect(rows).toEqual([
      { outcome: 'interrupted', status: null, usage_source: 'none', output_tokens: null, total_cost: null },
      { outcome: 'interrupted', status: 200, usage_source: 'partial', output_tokens: 2, total_cost: null },
      { outcome: 'interrupted', status: 200, usage_source: 'provider', output_tokens: 2, total_cost: '0.000070000000' },
    ]);
    expect((await pool.query('select from llm_open_calls')).rowCount).toBe(0);
    expect(readdirSync(spoolDir)).toEqual([]);
    expect(ship.stats()).toMatchObject({ rows: 3, interrupted: 3 });
    expect(await verifyRollups(pool)).toEqual([]);

    // An ending that turns up after all takes the row's place, once.
    const late = writer('late');
    const end = callEnd(2, { model: 'gpt-5-mini' });
    await written((done) =>
      late.end(callBegin(2, { traceId: 't' }), end, [callBody(2, 'response', Buffer.from('x'))], done),
    );
    await written((done) => late.end(callBegin(2, { traceId: 't' }), end, [], done));
    expect(await ship.drain(DRAIN_MS)).toBe(true);
    expect(await queryOne(`select outcome, output_tokens, model from llm_requests where id = '${callId(2)}'`)).toEqual({
      outcome: 'ok',
      output_tokens: 7,
      model: 'gpt-5-mini',
    });
    expect(await queryOne('select calls, errors, unpriced_calls, output_tokens from llm_runs')).toEqual({
      calls: 3,
      errors: 2,
      unpriced_calls: 1,
      output_tokens: 9,
    });
    expect((await pool.query('select from llm_bodies')).rowCount).toBe(1);
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('one poisonous record of 500 is put aside, one is stored in a safe form, and the rest goes through', async () => {
    const spool = writer('p1');
    const ends = Array.from({ length: 500 }, (_, number) => {
      const begin = callBegin(number, number === 123 ? { accountId: 99_999_999_999 } : { traceId: 't' });
      const end = callEnd(number, number === 321 ? { headersMs: 1e15 } : {});
      return written((done) => spool.end(begin, end, [], done));
    });
    await Promise.all(ends);
    const ship = shipper();
    expect(await ship.drain(DRAIN_MS)).toBe(true);
    expect(ship.stats()).toMatchObject({ rows: 499, sanitised: 1, quarantined: 1, waitingFor: null });
    expect(
      await queryOne(`select flags, headers_ms, total_cost from llm_requests where id = '${callId(321)}'`),
    ).toEqual({
      flags: ['sanitised'],
      headers_ms: null,
      total_cost: '0.000491000000',
    });
    const file = join(root, 'quarantine', `record-${callId(123)}.json`);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      id: callId(123),
      reason: expect.stringContaining('22003'),
    });
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('a lost cursor and a replay of everything make no second row', async () => {
    const spool = writer('p1');
    for (let number = 0; number < 50; number += 1) await writeCall(spool, number, 't');
    const first = startShipper({ pool, spoolDir, prices: fixedPrices(priceByToken), log });
    expect(await first.drain(DRAIN_MS)).toBe(true);
    await first.stop();
    rmSync(join(spoolDir, 'p1', 'cursor.json'));
    const second = shipper();
    expect(await second.drain(DRAIN_MS)).toBe(true);
    expect(second.stats().rows).toBe(0);
    expect((await pool.query('select from llm_requests')).rowCount).toBe(50);
    expect((await pool.query('select from llm_open_calls')).rowCount).toBe(0);
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('while the database is down records wait, and they arrive by themselves when it is back', async () => {
    const spool = writer('p1');
    const ship = shipper();
    await writeCall(spool, 1, 't');
    expect(await ship.drain(DRAIN_MS)).toBe(true);
    await server.stop();
    await writeCall(spool, 2, 't');
    expect(await ship.drain(300)).toBe(false);
    expect(ship.stats().waitingFor).not.toBeNull();
    await server.start();
    expect(await ship.drain(DRAIN_MS)).toBe(true);
    expect(ship.stats().waitingFor).toBeNull();
    expect((await pool.query('select from llm_requests')).rowCount).toBe(2);
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('drained means what was there at the request, although the next batch was read before it', async () => {
    const spool = writer('p1');
    const ship = shipper();
    // It makes the partitions first.
    expect(await ship.drain(DRAIN_MS)).toBe(true);
    const blocker = await pool.connect();
    await blocker.query('begin');
    await blocker.query('lock table llm_requests in share row exclusive mode');
    // One group of more than one batch, so that the rest of it is read while the first batch waits.
    const calls = Array.from({ length: 120 }, (_, index) => index + 1);
    await Promise.all(calls.map((number) => writeCall(spool, number)));
    await waitUntil('the first batch waits', async () => {
      const { rowCount } = await pool.query("select from pg_locks where not granted and locktype = 'relation'");
      return rowCount || undefined;
    });
    await sleep(300);
    await writeCall(spool, 121);
    const drained = ship.drain(DRAIN_MS);
    await blocker.query('rollback');
    blocker.release();
    expect(await drained).toBe(true);
    expect((await pool.query('select from llm_requests')).rowCount).toBe(121);
  });

  test('what a broken directory holds is not stored, nor what follows something that looks damaged', async () => {
    await writeCall(writer('p1'), 1);
    const ship = shipper();
    expect(await ship.drain(DRAIN_MS)).toBe(true);
    const since = ship.stats().drainedAtMs ?? Number.POSITIVE_INFINITY;
    mkdirSync(join(spoolDir, 'p2', 'seg-00000001.log'), { recursive: true });
    await waitUntil('it is broken', () => ship.stats().brokenDirectories || undefined);
    const drainedAtMs = ship.stats().drainedAtMs;
    expect(await ship.drain(700)).toBe(false);
    expect(ship.stats().drainedAtMs).toBe(drainedAtMs);
    expect(drainedAtMs).toBeGreaterThanOrEqual(since);
    rmSync(join(spoolDir, 'p2'), { recursive: true });

    const spool = writer('p3');
    await writeCall(spool, 2);
    appendFileSync(join(spoolDir, 'p3', 'seg-00000001.log'), Buffer.alloc(3_000, 7));
    await writeCall(spool, 3);
    ship.setLiveSpools(['p1', 'p3']);
    expect(await ship.drain(DRAIN_MS)).toBe(true);
    expect((await pool.query('select from llm_requests')).rowCount).toBe(3);
  });

  test('the directories of three dead processes are adopted, whatever they held', async () => {
    // As a kill leaves them: the writers still hold their files, the copies are nobody's.
    const killed = (name: string, after: string) =>
      cpSync(join(spoolDir, name), join(spoolDir, after), { recursive: true });
    const plain = writer('p1');
    await writeCall(plain, 1);
    await written((done) => plain.begin(callBegin(2), done));
    killed('p1', 'dead-1');
    // The end of a reserve that was being written: zeros.
    await writeCall(writer('p2'), 3);
    killed('p2', 'dead-2');
    appendFileSync(join(spoolDir, 'dead-2', 'seg-00000001.log'), Buffer.alloc(70_000));
    writeFileSync(join(spoolDir, 'dead-2', 'reserve.bin'), Buffer.alloc(5_000));
    const losing = openSpoolWriter({ dir: join(spoolDir, 'dead-3'), durability: 'process', maxBytes: 0, log });
    await written((done) => losing.end(callBegin(4), callEnd(4), [], done));
    await losing.close();
    const ship = shipper();
    ship.setLiveSpools(['p1', 'p2']);
    while (readdirSync(spoolDir).some((name) => name.startsWith('dead'))) await sleep(20);
    expect(ship.stats()).toMatchObject({ interrupted: 1, quarantined: 0, corruptBytes: 0 });
    const { rows } = await pool.query('select id, outcome from llm_requests order by id');
    const expected = { [callId(1)]: 'ok', [callId(2)]: 'interrupted', [callId(3)]: 'ok' };
    expect(Object.fromEntries(rows.map(({ id, outcome }) => [id, outcome]))).toEqual(expected);
  });

  test('partitions are made a week ahead', async () => {
    await shipper().drain(DRAIN_MS);
    const { rows } = await pool.query(`select inhparent::regclass::text as parent, count(*) as days
      from pg_inherits where inhparent in ('llm_requests'::regclass, 'llm_bodies'::regclass) group by 1 order by 1`);
    expect(rows).toEqual([
      { parent: 'llm_bodies', days: 8 },
      { parent: 'llm_requests', days: 8 },
    ]);
  });

  test('a partition that vanished is made again', async () => {
    const spool = writer('p1');
    const ship = shipper();
    await writeCall(spool, 1);
    await ship.drain(DRAIN_MS);
    await pool.query('drop table llm_requests_p20261128');
    await writeCall(spool, 2);
    expect(await ship.drain(DRAIN_MS)).toBe(true);
    expect((await pool.query('select id from llm_requests')).rows).toEqual([{ id: callId(2) }]);
  });

  test('directories that are not of a proxy process stay untouched', async () => {
    mkdirSync(join(spoolDir, 'notes'), { recursive: true });
    writeFileSync(join(spoolDir, 'notes', 'seg-1.txt'), 'mine');
    const ship = shipper();
    ship.setLiveSpools([]);
    await ship.drain(DRAIN_MS);
    expect(readdirSync(join(spoolDir, 'notes'))).toEqual(['seg-1.txt']);
  });

  test('migrating twice changes nothing, and every column and table has a comment', async () => {
    expect(await migrate(pool, MIGRATIONS)).toEqual([]);
    const { rows } = await pool.query(`
      select c.relname, a.attname from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname not in ('schema_migrations', 'schema_additions')
        and (col_description(c.oid, a.attnum) is null or obj_description(c.oid) is null)`);
    expect(rows).toEqual([]);
  });

  test('every change of a key raises the version of the snapshot', async () => {
    const before = await readKeySnapshot(pool);
    expect(before.keys).toEqual([]);
    const digest = 'ab'.repeat(32);
    const made = await insertKey(pool, {
      accountId: 1,
      name: 'first',
      digest,
      prefix: 'tgk_abcd',
      last4: 'wxyz',
      expiresAtMs: NOON_MS,
      usage: 'observe',
      bodies: null,
      allowInAddress: false,
      runsFrom: [],
    });
    expect(made.version).toBe(before.version + 1);
    const entry = {
      digest,
      keyId: made.key.keyId,
      accountId: 1,
      revoked: false,
      expiresAtMs: NOON_MS,
      usage: 'observe',
      bodies: null,
    };
    expect(made.entry).toEqual(entry);
    const revoked = await revokeKey(pool, 1, made.key.keyId);
    expect(revoked?.version).toBe(made.version + 1);
    expect(await revokeKey(pool, 1, 12345)).toBeNull();
    const after = await readKeySnapshot(pool);
    expect(after.keys).toEqual([{ ...entry, revoked: true }]);
    expect(await listKeys(pool, 1)).toMatchObject([{ name: 'first', last4: 'wxyz', lastUsedAtMs: null }]);
    expect(await listKeys(pool, 2)).toEqual([]);
  });
});

/** The same order for the same seed (a linear congruential generator). */
function shuffle<T>(items: readonly T[], seed: number): readonly T[] {
  let state = seed;
  return items
    .map((item) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return { item, rank: state };
    })
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
