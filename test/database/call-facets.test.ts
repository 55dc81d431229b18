/** Sums and percentiles from the roll-up by one dimension, in real databases: equal to what the records say. */
import fc from 'fast-check';
import { sql } from 'kysely';
import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FACET_SOURCE_COLUMNS } from '../../src/control/log/call-facets.ts';
import { SUMMED_COLUMNS } from '../../src/control/log/call-sums.ts';
import { COST_HOURLY_COLUMNS, COST_KEY_COLUMNS } from '../../src/control/log/cost-hourly.ts';
import { addCallsToFacets, type SignedCall } from '../../src/control/log/facet-deltas.ts';
import { fillFacets, mendFacets } from '../../src/control/log/fill-facets.ts';
import { FEW_VALUES_AN_HOUR, MAX_ROLLED_UP_KEYS, MAX_VALUES_AN_HOUR } from '../../src/control/log/fold-facets.ts';
import { foldRollups, HOURLY_TABLES } from '../../src/control/log/fold-rollups.ts';
import { readKeyUsage } from '../../src/control/log/key-usage.ts';
import { parseLogFilter } from '../../src/control/log/log-filter.ts';
import { filterCondition } from '../../src/control/log/log-filter-sql.ts';
import { NO_PROMOTED_KEYS } from '../../src/control/log/promoted-keys.ts';
import { allOf, runSql } from '../../src/control/log/run-sql.ts';
import { type LogSummary, summariseLogs } from '../../src/control/log/summarise-logs.ts';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { WALK_LIMITS } from '../../src/control/log/walk-window.ts';
import { repeatFolding } from '../../src/control/process/repeat-folding.ts';
import { openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { inTransaction } from '../../src/control/store/pool.ts';
import { waitUntil } from '../gateway/start-gateway.ts';
import { type MadeCall, makeItems } from '../support/made-calls.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { sweepAt } from '../support/sweep-at.ts';

const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;
const LONG = 'x'.repeat(230);
const SUNDAY_MS = Date.UTC(2026, 10, 22);

describe.each(POSTGRES_KINDS)('sums by facet in $name', (kind) => {
  let server: TestPostgres;
  let pool: pg.Pool;

  beforeAll(async () => {
    server = await startPostgres(kind);
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    pool = openTestPool(await server.createDatabase());
    return () => pool.end();
  });

  async function ship(...batches: readonly (readonly MadeCall[])[]): Promise<void> {
    const session = await openIngestSession(pool);
    try {
      for (const batch of batches) await session.ingest(makeItems(batch));
    } finally {
      session.close();
    }
  }

  async function rowsOf(table: string): Promise<number> {
    return (await pool.query(`select from ${table}`)).rowCount ?? 0;
  }

  interface Asked {
    readonly f?: readonly string[];
    readonly fromMs?: number;
    readonly toMs?: number;
    readonly excludeRuns?: boolean;
  }

  const ask = ({ f = [], fromMs = SUNDAY_MS, toMs = SUNDAY_MS + DAY_MS, excludeRuns = false }: Asked) =>
    summariseLogs(
      pool,
      { accountId: 1, filters: f.map(parseLogFilter), search: null, from: null, to: null, excludeRuns },
      { from: new Date(fromMs), to: new Date(toMs) },
      null,
      { ...WALK_LIMITS, budgetMs: 10_000 },
    );

  const four: readonly MadeCall[] = [
    { number: 1, atMs: SUNDAY_MS, cost: 1, durationMs: 100, metadata: [['Feature', 'search']], traceId: 'run' },
    { number: 2, atMs: SUNDAY_MS + HOUR_MS, cost: 2, durationMs: 200, metadata: [['feature', 'search']] },
    { number: 3, atMs: SUNDAY_MS + HOUR_MS, cost: 4, durationMs: 4_000, metadata: [['Feature', 'chat']] },
    { number: 4, atMs: SUNDAY_MS + 9 * HOUR_MS, cost: 8, durationMs: 900, outcome: 'upstream_error', status: 500 },
  ];

  const shown = ({ calls, errors, total_cost, p50_duration_ms, source }: LogSummary) =>
    `${source}: ${calls} calls, ${errors} errors, $${total_cost}, p50 ${p50_duration_ms}`;

  test('a day is read from the hours, before and after they are folded', async () => {
    await ship(four);
    const answers = async () => [
      shown(await ask({})),
      shown(await ask({ f: ['metadata.FEATURE:eq:search'] })),
      shown(await ask({ f: ['metadata.Feature:nohas'] })),
      shown(await ask({ f: ['status:gte:400'] })),
      shown(await ask({ excludeRuns: true })),
      shown(await ask({ f: ['metadata.Feature:has'], excludeRuns: true })),
      shown(await ask({ fromMs: SUNDAY_MS + HOUR_MS - 1, toMs: SUNDAY_MS + DAY_MS - 1 })),
    ];
    // Percentiles are within 1 %: a bucket is known by its middle.
    const expected = [
      'hourly: 4 calls, 1 errors, $0.000015, p50 198',
      'hourly: 2 calls, 0 errors, $0.000003, p50 100',
      'hourly: 1 calls, 1 errors, $0.000008, p50 907',
      'hourly: 1 calls, 1 errors, $0.000008, p50 907',
      'hourly: 3 calls, 1 errors, $0.000014, p50 907',
      'hourly: 2 calls, 0 errors, $0.000006, p50 198',
      'hourly: 3 calls, 1 errors, $0.000014, p50 907',
    ];
    expect(await answers()).toEqual(expected);
    await foldRollups(pool);
    expect(await answers()).toEqual(expected);
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('the use of a key is that of a day and of 30 days, to the millisecond', async () => {
    const nowMs = SUNDAY_MS + 10 * HOUR_MS + 90_000;
    const since = nowMs - DAY_MS;
    const month = nowMs - 30 * DAY_MS;
    const at = (number: number, atMs: number, keyId = 1): MadeCall => ({ number, atMs, cost: 10 ** number, keyId });
    await ship([
      at(0, nowMs - 1),
      at(1, since),
      { ...at(2, since - 1), priced: 'partly' },
      at(3, month),
      at(4, month - 1),
      at(5, since - 1, 2),
    ]);
    const read = async () => Object.fromEntries(await readKeyUsage(pool, 1, nowMs, 10_000));
    const expected = {
      1: {
        day: { calls: 2, cost: '0.000011', unpricedCalls: 0 },
        month: { calls: 4, cost: '0.001111', unpricedCalls: 1 },
        callsSinceRotation: null,
      },
      2: {
        day: { calls: 0, cost: '0', unpricedCalls: 0 },
        month: { calls: 1, cost: '0.1', unpricedCalls: 0 },
        callsSinceRotation: null,
      },
    };
    expect(await read()).toEqual(expected);
    await foldRollups(pool);
    expect(await read()).toEqual(expected);
  });

  test('two columns, a search and a short window are read from the calls', async () => {
    await ship(four);
    expect(await ask({ f: ['status:eq:500', 'outcome:eq:upstream_error'] })).toMatchObject({
      source: 'records',
      calls: 1,
      searched_to: null,
    });
    expect(await ask({ toMs: SUNDAY_MS + 2 * HOUR_MS })).toMatchObject({ source: 'records', calls: 3 });
  });

  test('without time the calls are read in part, and the answer says since when', async () => {
    await ship(Array.from({ length: 30 }, (_, number) => ({ number, atMs: SUNDAY_MS + number * HOUR_MS, cost: 1 })));
    let nowMs = 0;
    const limits = {
      budgetMs: 100,
      firstRows: 10,
      monotonicMs: () => {
        nowMs += 45;
        return nowMs;
      },
    };
    const filters = ['status:eq:200', 'outcome:eq:ok'].map(parseLogFilter);
    const scope = { accountId: 1, filters, search: null, from: null, to: null, excludeRuns: false };
    const window = { from: new Date(SUNDAY_MS), to: new Date(SUNDAY_MS + 2 * DAY_MS) };
    const part = await summariseLogs(pool, scope, window, null, limits);
    expect(part.searched_to).not.toBeNull();
    const to = new Date(part.searched_to ?? 0);
    nowMs = 0;
    const rest = await summariseLogs(pool, scope, { ...window, to }, null, { ...limits, budgetMs: 10_000 });
    expect(part.calls).toBeGreaterThanOrEqual(10);
    expect([part.calls + rest.calls, rest.searched_to]).toEqual([30, null]);
  });

  test('a key with too many values of an hour is left to the calls', async () => {
    // Four calls of each user.
    const many = Array.from({ length: 4 * (MAX_VALUES_AN_HOUR + 1) }, (_, index) => ({
      number: index,
      atMs: SUNDAY_MS + index,
      cost: 1,
      metadata: [['User-Id', `user-${index >> 2}`] as const, ['Team', 'a'] as const],
    }));
    await ship(many.slice(4));
    await foldRollups(pool);
    expect(await ask({ f: ['metadata.user-id:has'] })).toMatchObject({ source: 'hourly', calls: 800 });
    await ship(many.slice(0, 4));
    await foldRollups(pool);
    expect(await ask({ f: ['metadata.user-id:has'] })).toMatchObject({ source: 'records', calls: 804 });
    await ship([{ number: 1_000, atMs: SUNDAY_MS, cost: 1, metadata: [['User-Id', 'user-1']] }]);
    expect((await pool.query("select from llm_facet_hours where facet = 'metadata.user-id'")).rowCount).toBe(0);
    expect(await ask({ f: ['metadata.team:eq:a'] })).toMatchObject({ source: 'hourly' });
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('a key whose calls hardly share a value is left to them when its hour is over', async () => {
    const calls = (count: number, key: string) =>
      Array.from({ length: count }, (_, index) => ({
        number: count * 1_000 + index,
        atMs: SUNDAY_MS + index,
        cost: 1,
        metadata: [[key, `value-${index}`] as const],
      }));
    await ship([...calls(FEW_VALUES_AN_HOUR, 'Few'), ...calls(FEW_VALUES_AN_HOUR + 1, 'Session')]);
    await foldRollups(pool);
    expect(await ask({ f: ['metadata.few:has'] })).toMatchObject({ source: 'hourly', calls: 50 });
    expect(await ask({ f: ['metadata.session:has'] })).toMatchObject({ source: 'records', calls: 51 });
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('a client that makes up keys ends the roll-up of all keys, and nothing else', async () => {
    await ship(
      Array.from({ length: MAX_ROLLED_UP_KEYS + 1 }, (_, index) => ({
        number: index,
        atMs: SUNDAY_MS + index,
        cost: 1,
        metadata: [[`Key-${index}`, 'x'] as const],
      })),
    );
    await foldRollups(pool);
    expect((await pool.query("select from llm_facet_hours where facet like 'metadata.%'")).rowCount).toBe(0);
    expect(await ask({ f: ['metadata.key-7:eq:x'] })).toMatchObject({ source: 'records', calls: 1 });
    expect(await ask({ f: ['model:eq:gpt-5'] })).toMatchObject({ source: 'hourly', calls: MAX_ROLLED_UP_KEYS + 1 });
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('after an upgrade the hours are filled from the newest on, and answers are whole meanwhile', async () => {
    await ship(four);
    await foldRollups(pool);
    await pool.query('delete from llm_facet_hourly');
    await pool.query("insert into llm_facet_fill values (1, 'infinity')");
    expect(shown(await ask({}))).toBe('records: 4 calls, 1 errors, $0.000015, p50 198');
    expect(await fillFacets(pool)).toBe(true);
    expect(shown(await ask({}))).toBe('hourly: 4 calls, 1 errors, $0.000015, p50 198');
    // A late call of an hour that is not filled yet is not counted twice.
    await ship([{ number: 5, atMs: SUNDAY_MS + 1, cost: 16, durationMs: 200 }]);
    expect(shown(await ask({}))).toBe('hourly: 5 calls, 1 errors, $0.000031, p50 198');
    while (await fillFacets(pool)) await foldRollups(pool);
    await foldRollups(pool);
    expect(shown(await ask({}))).toBe('hourly: 5 calls, 1 errors, $0.000031, p50 198');
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('what a restore brings unfilled is filled while the gateway runs', async () => {
    const folding = repeatFolding(pool, pino({ level: 'silent' }), 20);
    try {
      await ship(four);
      await waitUntil('the hours are folded', async () => (await rowsOf('llm_facet_deltas')) === 0 || undefined);
      // As a restore does.
      await pool.query('delete from llm_facet_hourly');
      await pool.query("insert into llm_facet_fill values (1, 'infinity')");
      await waitUntil('all is filled', async () => (await rowsOf('llm_facet_fill')) === 0 || undefined);
      await waitUntil('it is folded again', async () => (await rowsOf('llm_facet_deltas')) === 0 || undefined);
      expect(shown(await ask({}))).toBe('hourly: 4 calls, 1 errors, $0.000015, p50 198');
      expect(await verifyRollups(pool)).toEqual([]);
    } finally {
      await folding.stop();
    }
  });

  test('calls that a former release stored are found by their hour', async () => {
    await ship(four);
    await pool.query('delete from llm_facet_deltas where hour = $1', [new Date(SUNDAY_MS + HOUR_MS)]);
    expect((await verifyRollups(pool)).length).toBeGreaterThan(0);
    expect(await mendFacets(pool)).toBe(1);
    expect(await mendFacets(pool)).toBe(0);
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('verify finds a sum and a distribution that are wrong', async () => {
    await ship(four);
    await foldRollups(pool);
    await pool.query("update llm_facet_hourly set durations = '' where facet = 'model' and in_run");
    await pool.query("update llm_facet_hourly set errors = 3 where facet = 'status' and value = '500'");
    expect((await verifyRollups(pool)).map(({ side, row }) => `${side} ${row}`)).toEqual([
      'rollup 2026-11-22T00:00:00.000Z model gpt-5 in runs has another distribution',
      expect.stringMatching(/^records 2026-11-22T09:00:00.000Z status 500 outside runs \(1,1,0,0,/),
      expect.stringMatching(/^rollup 2026-11-22T09:00:00.000Z status 500 outside runs \(1,3,0,0,/),
    ]);
  });

  const shapes = fc.record({
    atMs: fc.integer({ min: 0, max: 30 * HOUR_MS }).map((ms) => SUNDAY_MS + ms),
    cost: fc.integer({ min: 0, max: 1_000_000 }),
    priced: fc.constantFrom('wholly', 'partly', 'not'),
    model: fc.constantFrom('gpt-5', 'gpt-4', null),
    provider: fc.constantFrom('openai', 'anthropic'),
    client: fc.constantFrom('curl', null, LONG),
    keyId: fc.constantFrom(1, 2),
    outcome: fc.constantFrom('ok', 'upstream_error', 'client_closed'),
    status: fc.constantFrom(200, 500, null),
    traceId: fc.constantFrom(null, 'run-1', 'run-2'),
    durationMs: fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 10_000_000 })),
    firstTokenMs: fc.option(fc.integer({ min: 0, max: 100_000 })),
    metadata: fc.uniqueArray(
      fc.tuple(fc.constantFrom('Feature', 'feature', 'Team', 'x'), fc.constantFrom('a', 'b', '', LONG)),
      { selector: ([key]) => key, maxLength: 3 },
    ),
    isReplaced: fc.boolean(),
  } satisfies Record<keyof Omit<MadeCall, 'number' | 'modelRequested'> | 'isReplaced', unknown>);

  const questions = fc.record({
    f: fc.constantFrom(
      [],
      ['model:eq:gpt-5'],
      ['model:nohas'],
      ['model:ne:gpt-5'],
      ['client:in:curl,x'],
      ['key_id:ne:1'],
      ['status:gte:400'],
      ['status:nin:500'],
      ['outcome:prefix:up'],
      ['metadata.FEATURE:eq:a'],
      ['metadata.feature:in:a,b'],
      ['metadata.feature:ne:a'],
      ['metadata.team:nohas'],
      ['metadata.x:has'],
      ['metadata.feature:prefix:x'],
      ['model:eq:gpt-5', 'model:ne:gpt-4'],
      ['cost_status:has'],
      ['metadata.none:eq:x'],
    ),
    fromMs: fc.integer({ min: -HOUR_MS, max: 10 * HOUR_MS }).map((ms) => SUNDAY_MS + ms),
    toMs: fc.integer({ min: 22 * HOUR_MS, max: 50 * HOUR_MS }).map((ms) => SUNDAY_MS + ms),
    excludeRuns: fc.boolean(),
  });

  /** By another way than the product's: every call is read, and percentiles are looked up in the sorted values. */
  async function askRecords({ f, fromMs, toMs, excludeRuns }: Required<Asked>) {
    const conditions = [
      sql<boolean>`requested_at >= ${new Date(fromMs)} and requested_at < ${new Date(toMs)}`,
      ...f.map((text) => filterCondition(parseLogFilter(text), NO_PROMOTED_KEYS)),
      ...(excludeRuns ? [sql<boolean>`trace_id is null`] : []),
    ];
    const rows = await runSql(
      pool,
      sql`select outcome, coalesce(total_cost, known_cost)::float8 as cost, duration_ms, first_token_ms, output_tokens
        from llm_requests where ${allOf(conditions)}`,
    );
    const percentile = (share: number, values: readonly unknown[]) => {
      const sorted = values
        .filter((value) => value !== null)
        .map(Number)
        .sort((a, b) => a - b);
      return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
    };
    return {
      calls: rows.length,
      errors: rows.filter(({ outcome }) => outcome !== 'ok' && outcome !== 'client_closed').length,
      cost: rows.reduce((sum, { cost }) => sum + Math.round(Number(cost) * 1e6), 0),
      output_tokens: rows.reduce((sum, { output_tokens: tokens }) => sum + Number(tokens), 0),
      p50: percentile(
        0.5,
        rows.map((row) => row['duration_ms']),
      ),
      p99: percentile(
        0.99,
        rows.map((row) => row['duration_ms']),
      ),
      first: percentile(
        0.95,
        rows.map((row) => row['first_token_ms']),
      ),
    };
  }

  function expectNear(found: number | null, wanted: number | null): void {
    if (wanted === null) expect(found).toBeNull();
    // Half a millisecond is lost in whole numbers.
    else expect(Math.abs((found ?? Number.NaN) - wanted)).toBeLessThanOrEqual(wanted * 0.01 + 0.5);
  }

  test('of a call with a new price only what changes is added: sums of money, and the status of its cost', async () => {
    await ship(four.slice(0, 1));
    await foldRollups(pool);
    const { rows: calls } = await pool.query<SignedCall>(`select ${FACET_SOURCE_COLUMNS.join(', ')} from llm_requests`);
    const [call] = calls;
    if (call === undefined) throw new Error('the call was not stored');
    const priced = { ...call, total_cost: '0.000003', cost_status: 'partial' } as const;
    await inTransaction(pool, (client) => addCallsToFacets(client, [{ ...call, sign: -1 }, priced]));
    const { rows } = await pool.query(
      `select facet, value, calls, output_tokens, trim_scale(total_cost)::text as cost, length(durations) as bytes
       from llm_facet_deltas where facet in ('', 'cost_status', 'metadata.feature') order by facet, value`,
    );
    expect(rows).toEqual([
      { facet: '', value: '', calls: 0, output_tokens: 0, cost: '0.000002', bytes: 0 },
      { facet: 'cost_status', value: 'exact', calls: -1, output_tokens: -7, cost: '-0.000001', bytes: 3 },
      { facet: 'cost_status', value: 'partial', calls: 1, output_tokens: 7, cost: '0.000003', bytes: 3 },
      { facet: 'metadata.feature', value: 'search', calls: 0, output_tokens: 0, cost: '0.000002', bytes: 0 },
    ]);
    await inTransaction(pool, (client) => addCallsToFacets(client, [{ ...call, sign: -1 }, call]));
    await foldRollups(pool);
    const { rows: hours } = await pool.query(
      `select value, calls, trim_scale(total_cost)::text as cost from llm_facet_hourly where facet in ('', 'cost_status') order by value`,
    );
    expect(hours).toEqual([
      { value: '', calls: 1, cost: '0.000003' },
      { value: 'partial', calls: 1, cost: '0.000003' },
    ]);
  });

  test('money of a re-pricing that is folded before its call is not lost', async () => {
    await ship(four.slice(2, 3));
    for (const table of ['llm_cost_deltas', 'llm_facet_deltas'])
      await pool.query(`create table later_${table} as select * from ${table}; truncate ${table}`);
    const { rows: calls } = await pool.query<SignedCall>(`select ${FACET_SOURCE_COLUMNS.join(', ')} from llm_requests`);
    const [call] = calls;
    if (call === undefined) throw new Error('the call was not stored');
    await pool.query("update llm_requests set total_cost = '0.000006'");
    await inTransaction(pool, (client) =>
      addCallsToFacets(client, [
        { ...call, sign: -1 },
        { ...call, total_cost: '0.000006' },
      ]),
    );
    await pool.query(
      `insert into llm_cost_deltas (${COST_HOURLY_COLUMNS})
       select ${COST_KEY_COLUMNS}, ${SUMMED_COLUMNS.map((column) => (column === 'total_cost' ? '0.000002' : '0')).join(', ')}
       from later_llm_cost_deltas`,
    );
    await foldRollups(pool);
    for (const table of ['llm_cost_deltas', 'llm_facet_deltas'])
      await pool.query(`insert into ${table} select * from later_${table}`);
    await foldRollups(pool);
    expect(await verifyRollups(pool)).toEqual([]);
    const { rows } = await pool.query(
      `select calls, trim_scale(total_cost)::text as cost from llm_facet_hourly where facet = ''
       union select calls, trim_scale(total_cost)::text from llm_cost_hourly`,
    );
    expect(rows).toEqual([{ calls: 1, cost: '0.000006' }]);
  });

  test('whatever is stored, replayed, replaced, folded and dropped, answers are those of the records', async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(shapes, { maxLength: 30 }), { minLength: 1, maxLength: 4 }),
        fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }),
        fc.boolean(),
        fc.array(questions, { minLength: 8, maxLength: 8 }),
        async (made, folds, isSwept, asked) => {
          await pool.query(`truncate llm_requests, llm_runs, llm_run_facets, ${HOURLY_TABLES.join(', ')}`);
          const batches = made.map((batch) => batch.map((shape) => ({ ...shape, number: ++number })));
          const begun = batches.map((batch) =>
            batch
              .filter(({ isReplaced }) => isReplaced)
              .map((call): MadeCall => ({ ...call, outcome: 'interrupted', model: 'half', priced: 'partly' })),
          );
          for (const [index, batch] of [...begun, ...batches, ...batches.slice(0, 1)].entries()) {
            await ship(batch);
            if (folds[index] === true) await foldRollups(pool);
          }
          if (isSwept) await sweepAt(SUNDAY_MS + 2 * DAY_MS, { pool, limits: { rowsDays: 1, bodiesDays: 1 } });
          expect(await verifyRollups(pool)).toEqual([]);
          for (const one of asked) {
            const found = await ask(one);
            const wanted = await askRecords(one);
            expect(found.source).toBe('hourly');
            expect([
              found.calls,
              found.errors,
              Math.round(Number(found.total_cost) * 1e6),
              found.output_tokens,
            ]).toEqual([wanted.calls, wanted.errors, wanted.cost, wanted.output_tokens]);
            expectNear(found.p50_duration_ms, wanted.p50);
            expectNear(found.p99_duration_ms, wanted.p99);
            expectNear(found.p95_first_token_ms, wanted.first);
            expect(found.buckets.reduce((sum, { calls }) => sum + calls, 0)).toBe(found.calls);
          }
        },
      ),
      { numRuns: 8, endOnFailure: true },
    );
  });
});
