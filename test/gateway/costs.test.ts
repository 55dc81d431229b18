/** Costs by group and time in real databases: whatever is asked, the answer is the sum over the records. */

import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addCostHourly } from '../../src/control/log/cost-hourly.ts';
import { COST_INTERVALS, type CostQuery, parseCostGroups } from '../../src/control/log/cost-query.ts';
import { foldRollups, HOURLY_TABLES } from '../../src/control/log/fold-rollups.ts';
import { type Costs, listCosts } from '../../src/control/log/list-costs.ts';
import { parseLogFilter } from '../../src/control/log/log-filter.ts';
import { AGGREGATED_COLUMNS } from '../../src/control/log/run-aggregate.ts';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { WALK_LIMITS } from '../../src/control/log/walk-window.ts';
import { openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { migrate } from '../../src/control/store/migrate.ts';
import { inTransaction } from '../../src/control/store/pool.ts';
import { type MadeCall, makeItems, promote, type RecordsQuestion, sumRecords } from '../support/made-calls.ts';
import { MIGRATIONS, openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { sweepAt } from '../support/sweep-at.ts';

/** Summer time ends in Berlin on 25 October 2026 at 01:00 UTC. */
const SATURDAY_MS = Date.UTC(2026, 9, 24);
const HOUR_MS = 3_600_000;
const NOW_MS = SATURDAY_MS + 72 * HOUR_MS;

function question(asked: Partial<Omit<CostQuery, 'groups' | 'filters'>> & { by?: string; f?: string[] }): CostQuery {
  const { by = 'model', f = [], ...rest } = asked;
  return {
    accountId: 1,
    groups: parseCostGroups(by),
    interval: 'none',
    from: null,
    to: null,
    timeZone: 'UTC',
    filters: f.map(parseLogFilter),
    limit: 20,
    ...rest,
  };
}

describe.each(POSTGRES_KINDS)('costs in $name', (kind) => {
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

  const ask = (asked: Parameters<typeof question>[0]) =>
    listCosts(pool, question(asked), NOW_MS, { ...WALK_LIMITS, budgetMs: 30_000 });

  function show({ rows, rest }: Costs): string[] {
    const lines = rows.map((row) => `${row.group.join('|')}: ${row.calls} calls $${row.total_cost}`);
    return rest === null ? lines : [...lines, `rest of ${rest.groups}: ${rest.calls} calls $${rest.total_cost}`];
  }

  test('groups come by cost; the rest and calls without a value are groups, too', async () => {
    await promote(pool, 'Feature');
    await pool.query("update metadata_keys set state = 'promoting'");
    await ship([
      { number: 1, atMs: SATURDAY_MS, metadata: [['Feature', 'search']], cost: 5 },
      { number: 2, atMs: SATURDAY_MS + 1, metadata: [['feature', 'search']], cost: 6 },
      { number: 3, atMs: SATURDAY_MS + 2, metadata: [['Feature', 'chat']], cost: 30 },
      { number: 4, atMs: SATURDAY_MS + HOUR_MS, metadata: [], cost: 7 },
      { number: 5, atMs: SATURDAY_MS + HOUR_MS, metadata: [['Feature', '']], cost: 1 },
    ]);
    const asked = { by: 'metadata.FEATURE', limit: 2 };
    const expected = [
      'chat: 1 calls $0.00003',
      'search: 2 calls $0.000011',
      ': 1 calls $0.000007',
      'rest of 1: 1 calls $0.000001',
    ];
    const raw = await ask(asked);
    expect(raw.source).toBe('hourly');
    expect(show(raw)).toEqual(expected);
    expect(raw.rows[2]?.group).toEqual([null]);
    expect(raw.totals).toMatchObject({ calls: 5, errors: 0, unpriced_calls: 0, total_cost: '0.000049' });
    await pool.query("update metadata_keys set state = 'promoted'");
    const promoted = await ask(asked);
    expect(promoted.source).toBe('hourly');
    expect(promoted).toEqual(raw);
  });

  test('a call without a total adds what is known of it and is counted', async () => {
    await ship([
      { number: 1, atMs: SATURDAY_MS, cost: 5 },
      { number: 2, atMs: SATURDAY_MS, cost: 3, priced: 'partly' },
      { number: 3, atMs: SATURDAY_MS, cost: 9, priced: 'not', outcome: 'upstream_error' },
    ]);
    const { totals } = await ask({});
    expect(totals).toMatchObject({ calls: 3, errors: 1, unpriced_calls: 2, total_cost: '0.000008' });
  });

  test('without a window it is everything, and without calls nothing', async () => {
    expect(await ask({ interval: 'auto' })).toMatchObject({
      from: new Date(NOW_MS),
      to: new Date(NOW_MS),
      totals: { calls: 0, total_cost: '0' },
      rows: [],
      rest: null,
      bucketStarts: [],
    });
    await ship([
      { number: 1, atMs: SATURDAY_MS - 40 * 24 * HOUR_MS + 1, cost: 1 },
      { number: 2, atMs: NOW_MS + 90_000, cost: 2 },
    ]);
    const all = await ask({});
    expect(all).toMatchObject({
      from: new Date(SATURDAY_MS - 40 * 24 * HOUR_MS),
      to: new Date(NOW_MS + HOUR_MS),
      totals: { calls: 2, total_cost: '0.000003' },
    });
    // One account does not see another's.
    expect((await listCosts(pool, { ...question({}), accountId: 2 }, NOW_MS)).totals.calls).toBe(0);
  });

  test('days are those of the zone: 25 hours long when summer time ends', async () => {
    await ship(
      Array.from({ length: 49 }, (_, hour) => ({ number: hour, atMs: SATURDAY_MS + hour * HOUR_MS, cost: 1 })),
    );
    const days = await ask({
      interval: 'day',
      timeZone: 'Europe/Berlin',
      from: new Date(SATURDAY_MS - 2 * HOUR_MS),
      to: new Date(SATURDAY_MS + 49 * HOUR_MS),
    });
    expect(days.source).toBe('hourly');
    expect(days.bucketStarts.map((start) => start.toISOString())).toEqual([
      '2026-10-23T22:00:00.000Z',
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
    ]);
    expect(days.rows[0]?.buckets?.map(({ start, calls }) => [start.toISOString().slice(0, 13), calls])).toEqual([
      ['2026-10-23T22', 22],
      ['2026-10-24T22', 25],
      ['2026-10-25T23', 2],
    ]);
  });

  test('days of a zone that is half an hour off take the shared hours from the records', async () => {
    await ship(
      Array.from({ length: 96 }, (_, half) => ({ number: half, atMs: SATURDAY_MS + (half * HOUR_MS) / 2, cost: 1 })),
    );
    const asked = { timeZone: 'Asia/Kolkata', from: new Date(SATURDAY_MS), to: new Date(SATURDAY_MS + 48 * HOUR_MS) };
    const days = await ask({ ...asked, interval: 'day' });
    expect(days.source).toBe('hourly');
    expect(days.rows[0]?.buckets?.map(({ start, calls }) => [start.toISOString(), calls])).toEqual([
      ['2026-10-23T18:30:00.000Z', 37],
      ['2026-10-24T18:30:00.000Z', 48],
      ['2026-10-25T18:30:00.000Z', 11],
    ]);
    const hours = await ask({ ...asked, interval: 'hour' });
    expect(hours.source).toBe('records');
    expect(hours.bucketStarts).toHaveLength(49);
    expect(hours.rows[0]?.buckets?.map(({ calls }) => calls)).toEqual([1, ...Array.from({ length: 47 }, () => 2), 1]);
  });

  test('what the roll-up does not know is read from the records', async () => {
    await promote(pool, 'Feature');
    await ship([{ number: 1, atMs: SATURDAY_MS, cost: 1, metadata: [['Feature', 'a']] }]);
    const sources: Record<string, string> = {};
    const shown: [string, string[]][] = [
      ['model,key', []],
      ['metadata.feature,provider', ['provider:eq:openai', 'key_id:in:1,2']],
      ['provider', ['metadata.Feature:eq:a']],
      ['provider', [`metadata.Feature:eq:${'a'.repeat(200)}`]],
      ['endpoint', []],
      ['metadata.Feature,metadata.Other', []],
      ['metadata.Other', []],
      ['model', ['model:eq:gpt-5']],
      ['model', ['metadata.Feature:ne:b']],
      ['metadata.Other', ['metadata.Feature:eq:a']],
    ];
    for (const [by, f] of shown) sources[`${by} ${f.join(' ').slice(0, 30)}`] = (await ask({ by, f })).source;
    expect(sources).toEqual({
      'model,key ': 'hourly',
      'metadata.feature,provider provider:eq:openai key_id:in:1': 'hourly',
      'provider metadata.Feature:eq:a': 'hourly',
      'provider metadata.Feature:eq:aaaaaaaaaa': 'records',
      'endpoint ': 'hourly',
      'metadata.Feature,metadata.Other ': 'records',
      'metadata.Other ': 'hourly',
      'model model:eq:gpt-5': 'records',
      'model metadata.Feature:ne:b': 'records',
      'metadata.Other metadata.Feature:eq:a': 'records',
    });
    await pool.query("update metadata_keys set state = 'demoting'");
    expect((await ask({ by: 'metadata.Feature,provider' })).source).toBe('records');
  });

  test('more than 1,000 buckets are refused', async () => {
    const window = { from: new Date(0), to: new Date(NOW_MS) };
    await expect(ask({ ...window, interval: 'day' })).rejects.toThrow('more than 1000 buckets of one day');
    expect(await ask({ ...window, interval: 'auto' })).toMatchObject({ interval: 'month' });
  });

  test('a replaced row leaves nothing behind in the hour', async () => {
    await ship(
      [{ number: 1, atMs: SATURDAY_MS, cost: 4, outcome: 'interrupted', model: 'half', metadata: [['Feature', 'a']] }],
      [{ number: 1, atMs: SATURDAY_MS, cost: 9, model: 'whole', metadata: [['Feature', 'a']] }],
    );
    expect(show(await ask({}))).toEqual(['whole: 1 calls $0.000009']);
    await foldRollups(pool);
    expect((await pool.query("select from llm_cost_hourly where facet = ''")).rowCount).toBe(1);
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('retention takes the hours of a day with the day', async () => {
    const dayMs = 24 * HOUR_MS;
    await promote(pool, 'Feature');
    await ship([
      { number: 1, atMs: SATURDAY_MS - 1, cost: 1, metadata: [['Feature', 'a']] },
      { number: 2, atMs: SATURDAY_MS, cost: 2, metadata: [['Feature', 'a']] },
      { number: 3, atMs: SATURDAY_MS + dayMs, cost: 4, metadata: [['Feature', 'a']] },
    ]);
    const limits = { rowsDays: 1, bodiesDays: 1 };
    await sweepAt(SATURDAY_MS + 2 * dayMs, { pool, limits });
    expect((await ask({ by: 'metadata.Feature' })).totals).toMatchObject({ calls: 1, total_cost: '0.000004' });
    expect((await pool.query('select from llm_cost_hours')).rowCount).toBe(2);
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('the migration counts the calls that are there already', async () => {
    await promote(pool, 'Feature');
    await ship([
      { number: 1, atMs: SATURDAY_MS, cost: 1, metadata: [['Feature', 'a'.repeat(300)]] },
      { number: 2, atMs: SATURDAY_MS + HOUR_MS, cost: 2, model: null, priced: 'partly' },
    ]);
    // With the views that later migrations make of it.
    await pool.query('drop table llm_cost_hourly, llm_cost_deltas cascade');
    await pool.query("delete from schema_migrations where name = '0004_cost_hourly.sql'");
    expect(await migrate(pool, MIGRATIONS)).toEqual(['0004_cost_hourly.sql']);
    // What later ones add.
    await pool.query('alter table llm_cost_hourly add column client_closed_calls int8 not null default 0');
    await pool.query('create view llm_cost_hours as table llm_cost_hourly');
    expect((await pool.query('select from llm_cost_hourly')).rowCount).toBe(3);
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('verify finds an hour that is wrong by the smallest amount', async () => {
    await ship([{ number: 1, atMs: SATURDAY_MS, cost: 1 }]);
    await pool.query('update llm_cost_deltas set total_cost = total_cost + 0.000000000001');
    expect((await verifyRollups(pool)).map(({ rollup, side }) => `${rollup} ${side}`).sort()).toEqual([
      'llm_cost_hourly records',
      'llm_cost_hourly rollup',
    ]);
  });

  test('a key that calls get later, and lose again, has its rows by hour meanwhile, and no other facet changes', async () => {
    await ship([
      { number: 1, atMs: SATURDAY_MS, cost: 1, metadata: [['Feature', 'a']] },
      { number: 2, atMs: SATURDAY_MS + 5, cost: 2, metadata: [['feature', 'b']] },
      { number: 3, atMs: SATURDAY_MS + HOUR_MS, cost: 4, metadata: [] },
    ]);
    await pool.query("update llm_requests set indexed_metadata = '{}'");
    await foldRollups(pool);
    await pool.query("delete from llm_cost_hourly where facet <> ''");
    await pool.query(
      "insert into metadata_keys (account_id, key_lower, display_key, state) values (1, 'feature', 'Feature', 'promoting')",
    );
    const before = await pool.query('select * from llm_cost_hourly order by 1, 2, 3');
    const change = (sign: 1 | -1, set: string, order: readonly string[]) =>
      inTransaction(pool, async (client) => {
        const statements: Readonly<Record<string, string>> = {
          update: `update llm_requests set indexed_metadata = ${set} where metadata_value(raw_metadata, 'Feature') is not null`,
          stage: `create temp table changed on commit drop as select ${sign} as sign, ${AGGREGATED_COLUMNS.join(', ')}
            from llm_requests where indexed_metadata ? 'Feature'`,
        };
        for (const name of order) await client.query(statements[name] ?? '');
        await addCostHourly(client, 'changed', 'metadata.Feature');
      });
    await change(1, "jsonb_build_object('Feature', metadata_value(raw_metadata, 'Feature'))", ['update', 'stage']);
    expect((await pool.query("select from llm_cost_deltas where facet = 'metadata.Feature'")).rowCount).toBe(2);
    expect(await verifyRollups(pool)).toEqual([]);
    await change(-1, "indexed_metadata - 'Feature'", ['stage', 'update']);
    expect(await verifyRollups(pool)).toEqual([]);
    await foldRollups(pool);
    expect((await pool.query('select * from llm_cost_hourly order by 1, 2, 3')).rows).toEqual(before.rows);
    expect(await verifyRollups(pool)).toEqual([]);
  });

  test('while calls arrive, totals, groups and buckets are of one moment', async () => {
    const from = new Date(SATURDAY_MS + HOUR_MS / 2);
    // Of each batch one call is in the edge before the first whole hour, one after the last, and two between.
    const batches = Array.from({ length: 40 }, (_, index) =>
      [0.6, 1, 2, 3.1].map((hour, place) => ({
        number: index * 4 + place,
        atMs: SATURDAY_MS + hour * HOUR_MS + index,
        cost: 10 ** place,
        model: `model-${place}`,
      })),
    );
    let isShipping = true;
    const shipping = ship(...batches).finally(() => {
      isShipping = false;
    });
    let answers = 0;
    while (isShipping) {
      const costs = await ask({ from, to: new Date(SATURDAY_MS + 3.5 * HOUR_MS), interval: 'hour' });
      const calls = costs.rows.map((row) => row.calls);
      expect(new Set(calls).size).toBeLessThanOrEqual(1);
      expect(costs.totals.calls).toBe((calls[0] ?? 0) * 4);
      answers += 1;
    }
    await shipping;
    expect(answers).toBeGreaterThan(0);
    expect((await ask({ from })).totals).toMatchObject({ calls: 160, total_cost: '0.04444' });
  });

  const shapes = fc.record({
    atMs: fc.integer({ min: 0, max: 60 * HOUR_MS }).map((offset) => SATURDAY_MS + offset),
    model: fc.constantFrom('gpt-5', 'gpt-5-mini', null),
    modelRequested: fc.constantFrom('gpt-5', 'm'.repeat(300), null),
    provider: fc.constantFrom('openai' as const, 'anthropic' as const),
    keyId: fc.constantFrom(1, 2),
    client: fc.constantFrom('curl', null),
    cost: fc.nat(1_000_000),
    priced: fc.constantFrom('wholly' as const, 'wholly' as const, 'partly' as const, 'not' as const),
    outcome: fc.constantFrom('ok' as const, 'upstream_error' as const, 'client_closed' as const),
    metadata: fc.constantFrom<[string, string][]>(
      [],
      [['Feature', 'search']],
      [['feature', 'search']],
      [['FEATURE', 'chat']],
      [
        ['Feature', 'one'],
        ['feature', 'two'],
      ],
      [
        ['Feature', 'x'.repeat(300)],
        ['Team', 'a'],
      ],
      [
        ['Feature', ''],
        ['Team', 'b'],
      ],
    ),
    /** Comes first as an interrupted call of another model. */
    isReplaced: fc.boolean(),
  });
  const instants = fc.oneof(
    fc.constant(null),
    fc.integer({ min: -2, max: 62 }).map((hour) => new Date(SATURDAY_MS + hour * HOUR_MS)),
    fc.integer({ min: -HOUR_MS, max: 61 * HOUR_MS }).map((offset) => new Date(SATURDAY_MS + offset)),
  );
  const questions = fc.record({
    by: fc.constantFrom(
      'model',
      'provider',
      'key',
      'endpoint',
      'client',
      'outcome',
      'span_name',
      'metadata.feature',
      'metadata.Feature,model',
      'provider,metadata.FEATURE',
      'metadata.Team',
      'metadata.Team,metadata.Feature',
      'model,key',
    ),
    filter: fc.constantFrom<RecordsQuestion['filter']>(
      null,
      null,
      'provider:eq:openai',
      'key_id:ne:1',
      'model:eq:gpt-5',
      'metadata.feature:in:search,chat',
      'metadata.Feature:has',
      'metadata.Feature:nohas',
    ),
    interval: fc.constantFrom(...COST_INTERVALS),
    timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe', 'America/New_York'),
    window: fc.tuple(instants, instants),
    limit: fc.constantFrom(1, 3, 200),
  });

  test('every answer, from the roll-up and from the records, is the sum over the records to the last digit', async () => {
    await promote(pool, 'Feature');
    let number = 0;
    let fromRollup = 0;
    const batches = fc.array(fc.array(shapes, { maxLength: 40 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        batches,
        fc.boolean(),
        fc.array(questions, { minLength: 12, maxLength: 12 }),
        async (made, isFolded, asked) => {
          await pool.query(`truncate llm_requests, llm_runs, llm_run_facets, ${HOURLY_TABLES.join(', ')}`);
          const calls = made.map((batch) =>
            batch.map((shape) => {
              number += 1;
              return { ...shape, number };
            }),
          );
          const begun = calls.map((batch) =>
            batch.map(
              (call): MadeCall =>
                call.isReplaced ? { ...call, outcome: 'interrupted', model: 'half', priced: 'partly' } : call,
            ),
          );
          await ship(...begun);
          if (isFolded) await foldRollups(pool);
          // The first batch once more, as after a lost answer.
          await ship(...calls, ...calls.slice(0, 1));
          expect(await verifyRollups(pool)).toEqual([]);
          if (isFolded) {
            await foldRollups(pool);
            expect(await verifyRollups(pool)).toEqual([]);
          }
          for (const { by, filter, window, ...rest } of asked) {
            const [from, to] =
              window[0] !== null && window[1] !== null && window[0] > window[1] ? window.toReversed() : window;
            const given = { ...rest, by, from: from ?? null, to: to ?? null, f: filter === null ? [] : [filter] };
            await pool.query("update metadata_keys set state = 'promoted'");
            const answer = await ask(given);
            await pool.query("update metadata_keys set state = 'promoting'");
            const unpromoted = await ask(given);
            expect({ ...unpromoted, source: answer.source }).toEqual(answer);
            if (answer.source === 'hourly') fromRollup += 1;
            const { bucketStarts, source: _, ...shown } = answer;
            const expected = await sumRecords(pool, { ...given, filter });
            expect({ rows: shown.rows, rest: shown.rest, totals: shown.totals }).toEqual(expected);
            const starts = new Set(bucketStarts.map(Number));
            for (const { start } of answer.rows.flatMap(({ buckets }) => buckets ?? []))
              expect(starts).toContain(start.getTime());
          }
        },
      ),
      { numRuns: 12, endOnFailure: true },
    );
    expect(fromRollup).toBeGreaterThan(0);
  });
});
