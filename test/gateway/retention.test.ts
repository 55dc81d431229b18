import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cutRollups } from '../../src/control/log/cut-rollups.ts';
import { readRun } from '../../src/control/log/read-run.ts';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import type { RetentionLimits, RetentionResult } from '../../src/control/store/retention.ts';
import type { CallBegin, SpoolEntry } from '../../src/vocabulary/call-record.ts';
import { callBegin, callBody, callEnd, NOON_MS, priceByToken } from '../support/call-fixtures.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { sweepAt } from '../support/sweep-at.ts';

const DAY_MS = 86_400_000;
/** Noon of 28 November 2026: with it the 18th is the first day of rows kept, the 25th the first of bodies. */
const LIMITS: RetentionLimits = { rowsDays: 10, bodiesDays: 3 };

describe.each(POSTGRES_KINDS)('retention in $name', (kind) => {
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

  /** Stores calls, as one proxy's records: number, days ago (at noon), trace id, model. */
  async function ship(...calls: readonly (readonly [number, number, string | null, string?])[]): Promise<void> {
    const entries = calls.flatMap(([number, daysAgo, traceId, model]): SpoolEntry[] => {
      const requestedAtMs = NOON_MS - daysAgo * DAY_MS + number;
      const begin: CallBegin = callBegin(number, { traceId, requestedAtMs });
      const body = { ...callBody(number, 'request', Buffer.from('{}')), requestedAtMs };
      const end = callEnd(number, { respondedAtMs: requestedAtMs + 1500, ...(model === undefined ? {} : { model }) });
      return [
        { type: 'body', body },
        { type: 'end', begin, end },
      ];
    });
    const session = await openIngestSession(pool);
    const batch = buildBatch(entries, { process: 'p', priceCall: priceByToken, nowMs: NOON_MS });
    try {
      expect(await session.ingest(batch.items)).toBe(calls.length);
    } catch (error) {
      session.close();
      throw error;
    }
    session.close();
  }

  function sweep(limits = LIMITS, nowMs = NOON_MS): Promise<RetentionResult> {
    return sweepAt(nowMs, { pool, limits });
  }

  async function column(sql: string): Promise<unknown[]> {
    const { rows } = await pool.query<unknown[]>({ text: sql, rowMode: 'array' });
    return rows.map(([value]) => value);
  }

  async function readRunRow(traceId: string): Promise<Record<string, unknown> | undefined> {
    const { rows } = await pool.query(
      `select calls, total_cost, input_tokens, started_at, ended_at, is_history, cut_at is not null as is_cut, cut_totals
       from llm_runs where trace_id = $1`,
      [traceId],
    );
    return rows[0];
  }

  const numbers = (table: string) =>
    column(`select ('x' || right(id::text, 8))::bit(32)::int from ${table} order by 1`);

  test('bodies go before their calls, days whole, and a second pass changes nothing', async () => {
    await ship([1, 11, null], [2, 10, null], [3, 4, null], [4, 3, null], [5, 0, null]);
    expect(await sweep()).toEqual({
      dropped: [
        ...['llm_texts_p20261117', 'llm_texts_p20261118', 'llm_texts_p20261124'],
        ...['llm_bodies_p20261117', 'llm_bodies_p20261118', 'llm_bodies_p20261124', 'llm_requests_p20261117'],
      ],
      waitingFor: null,
    });
    expect(await numbers('llm_requests')).toEqual([2, 3, 4, 5]);
    expect(await numbers('llm_bodies')).toEqual([4, 5]);
    expect(await column("select relname from pg_class where relname like 'llm_%_p20261117%'")).toEqual([]);
    expect(await sweep()).toEqual({ dropped: [], waitingFor: null });
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('a run across the line is what its calls left make it, and keeps what it lost', async () => {
    await ship([1, 12, 'long', 'gpt-4'], [2, 11, 'long'], [3, 10, 'long'], [4, 0, 'long'], [5, 0, 'new']);
    const untouched = await readRunRow('new');
    await sweep();
    expect(await readRunRow('long')).toEqual({
      calls: 2,
      total_cost: '0.000347000000',
      input_tokens: 207,
      started_at: new Date(NOON_MS - 10 * DAY_MS + 3),
      ended_at: new Date(NOON_MS + 1504),
      is_history: false,
      is_cut: true,
      cut_totals: {
        calls: 2,
        errors: 0,
        client_closed_calls: 0,
        unpriced_calls: 0,
        total_cost: '0.000343000000',
        input_tokens: 203,
        cache_read_input_tokens: 40,
        cache_creation_input_tokens: 0,
        output_tokens: 14,
        reasoning_tokens: 6,
        started_at: expect.stringContaining('2026-11-16T12:00:00.001'),
        ended_at: expect.stringContaining('2026-11-17T12:00:01.502'),
      },
    });
    expect(await readRunRow('new')).toEqual(untouched);
    expect(await column("select value from llm_run_facets where facet = 'model' order by 1")).toEqual([
      'gpt-4',
      'gpt-5-2025-08-07',
    ]);
    expect(await column("select calls from llm_run_facets where trace_id = 'long' and facet = 'provider'")).toEqual([
      2,
    ]);
    expect(await verifyRollups(pool)).toEqual([]);
    const shown = await readRun(pool, 1, 'long');
    expect(shown).toMatchObject({
      calls: 2,
      models: ['gpt-5-2025-08-07', 'gpt-4'],
      cut_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(await readRun(pool, 1, 'new')).toMatchObject({ cut_at: null });
  });

  test('a run of which nothing is left shows all that it ever had, however many passes took it', async () => {
    await ship([1, 12, 'old'], [2, 11, 'old'], [3, 9, 'old']);
    const whole = await readRunRow('old');
    await sweep(LIMITS, NOON_MS - DAY_MS);
    expect(await readRunRow('old')).toMatchObject({ calls: 2, is_history: false });
    expect(await verifyRollups(pool)).toEqual([]);
    await sweep(LIMITS, NOON_MS + 5 * DAY_MS);
    const gone = await readRunRow('old');
    expect(gone).toEqual({ ...whole, is_history: true, is_cut: true, cut_totals: gone?.['cut_totals'] });
    expect(gone?.['cut_totals']).toMatchObject({ calls: 3, total_cost: whole?.['total_cost'] });
    expect(await numbers('llm_requests')).toEqual([]);
    expect(await column('select distinct is_history from llm_run_facets')).toEqual([true]);
    expect(await verifyRollups(pool)).toEqual([]);
    expect(await sweep(LIMITS, NOON_MS + 5 * DAY_MS)).toEqual({ dropped: [], waitingFor: null });
    expect(await readRunRow('old')).toEqual(gone);
  });

  test('verify finds a record behind a roll-up that says it is history', async () => {
    await ship([1, 0, 'run']);
    await pool.query('update llm_runs set is_history = true');
    expect(await verifyRollups(pool)).toMatchObject([{ rollup: 'llm_runs', side: 'records', trace_id: 'run' }]);
  });

  test('a late record of a day that was dropped makes the day again, and the next pass takes it', async () => {
    await ship([1, 11, 'old'], [2, 11, 'long'], [3, 0, 'long']);
    await sweep();
    await ship([4, 11, 'old', 'gpt-4'], [5, 11, 'long']);
    expect(await numbers('llm_requests')).toEqual([3, 4, 5]);
    expect(await readRunRow('old')).toMatchObject({ calls: 1, input_tokens: 104, is_history: false, is_cut: true });
    expect(await readRunRow('long')).toMatchObject({ calls: 2, input_tokens: 208 });
    expect(await verifyRollups(pool)).toEqual([]);
    expect((await sweep()).dropped).toEqual(['llm_texts_p20261117', 'llm_bodies_p20261117', 'llm_requests_p20261117']);
    expect(await numbers('llm_requests')).toEqual([3]);
    expect(await readRunRow('old')).toMatchObject({ calls: 2, input_tokens: 205, is_history: true });
    expect(await readRunRow('long')).toMatchObject({ calls: 1, input_tokens: 103, cut_totals: { calls: 2 } });
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('a shipper that knew the day before it was dropped stores its late record all the same', async () => {
    const session = await openIngestSession(pool);
    const context = { process: 'p', priceCall: priceByToken, nowMs: NOON_MS };
    const item = (number: number) => {
      const begin = callBegin(number, { traceId: 'old', requestedAtMs: NOON_MS - 11 * DAY_MS + number });
      return buildBatch([{ type: 'end', begin, end: callEnd(number) }], context).items;
    };
    await session.ingest(item(1));
    await sweep();
    await expect(session.ingest(item(2))).rejects.toMatchObject({ code: '23514' });
    session.forgetPartitions();
    expect(await session.ingest(item(2))).toBe(1);
    session.close();
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('with a limit of 0 days bodies of today go too, and those of the next calls have a place', async () => {
    await ship([1, 1, null], [2, 0, null]);
    const atOnce = { rowsDays: 10, bodiesDays: 0 };
    expect((await sweep(atOnce)).dropped).toEqual([
      'llm_texts_p20261127',
      'llm_bodies_p20261127',
      'llm_bodies_p20261128',
    ]);
    expect(await numbers('llm_bodies')).toEqual([]);
    await ship([3, 0, null]);
    expect(await numbers('llm_bodies')).toEqual([3]);
    expect((await sweep(atOnce)).dropped).toEqual(['llm_bodies_p20261128']);
    expect((await sweep(atOnce)).dropped).toEqual([]);
    expect(await numbers('llm_requests')).toEqual([1, 2, 3]);
  });

  test('bodies never outlive their calls', async () => {
    await ship([1, 11, null], [2, 0, null]);
    await sweep({ rowsDays: 10, bodiesDays: 90 });
    expect(await numbers('llm_bodies')).toEqual([2]);
  });

  test('while a reader holds the log nothing is cut or dropped, and the next pass does it', async () => {
    await ship([1, 11, 'old']);
    const before = await readRunRow('old');
    const reader = await pool.connect();
    await reader.query('begin');
    await reader.query('select from llm_requests');
    expect(await sweep()).toEqual({
      dropped: ['llm_texts_p20261117', 'llm_bodies_p20261117'],
      waitingFor: 'log in use',
    });
    await reader.query('commit');
    reader.release();
    expect(await readRunRow('old')).toEqual(before);
    expect((await sweep()).dropped).toEqual(['llm_requests_p20261117']);
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('between the sums and the drop the log can be read and not written', async () => {
    await ship([1, 11, 'old'], [2, 0, 'old']);
    const seen: unknown[] = [];
    const cutWatched: typeof cutRollups = async (client, day) => {
      await cutRollups(client, day);
      seen.push(await numbers('llm_requests'));
      const writer = await pool.connect();
      await writer.query("set lock_timeout = '50ms'");
      const write = writer.query('insert into llm_requests select * from llm_requests where false');
      seen.push(await write.catch((error: unknown) => error));
      writer.release(true);
    };
    await sweepAt(NOON_MS, { pool, limits: LIMITS, cutRollups: cutWatched });
    expect(seen).toEqual([[1, 2], expect.objectContaining({ code: '55P03' })]);
    expect(await numbers('llm_requests')).toEqual([2]);
  });

  test('of two nodes that sweep at once and a shipper beside them, each day is dropped once and the sums hold', async () => {
    const calls = Array.from({ length: 60 }, (_, n) => [n + 1, n % 16, `run-${n % 7}`] as const);
    await ship(...calls);
    const [first, second] = await Promise.all([
      sweep(),
      sweep(),
      ship(...calls.map(([n, d, t]) => [n + 100, d % 4, t] as const)),
    ]);
    const third = await sweep();
    const dropped = [...first.dropped, ...second.dropped, ...third.dropped];
    expect(dropped.filter((name) => name.startsWith('llm_requests'))).toEqual(
      [...new Set(dropped)].filter((name) => name.startsWith('llm_requests')),
    );
    expect(await column("select min(requested_at) >= timestamptz '2026-11-18 00:00Z' from llm_requests")).toEqual([
      true,
    ]);
    expect(await verifyRollups(pool)).toEqual([]);
    // Nothing is lost: what is left and what was cut are all calls there ever were.
    const total =
      "select sum(case when is_history then 0 else calls end + coalesce((cut_totals->>'calls')::int8, 0))::int8 from llm_runs";
    expect(await column(total)).toEqual([120]);
  });
});
