/** Pricing calls again in real databases: what changes, what stays, and what happens meanwhile. */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cancelJob, readJob, resumeJob } from '../../src/control/jobs/job-store.ts';
import { foldRollups, HOURLY_TABLES } from '../../src/control/log/fold-rollups.ts';
import { priceEstimate } from '../../src/control/prices/estimates/price-estimate.ts';
import { listDays } from '../../src/control/prices/reprice/day-sums.ts';
import { listRevisions } from '../../src/control/prices/reprice/list-revisions.ts';
import { queueUpdate } from '../../src/control/prices/reprice/queue-update.ts';
import { requestRepricing } from '../../src/control/prices/reprice/reprice-request.ts';
import { makeInterruptedItem } from '../../src/control/shipper/build-batch.ts';
import { BEGIN_BATCH } from '../../src/control/store/ingest-lock.ts';
import { inTransaction } from '../../src/control/store/pool.ts';
import { callBegin, callCheckpoint, callId, NOON_MS } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { sweepAt } from '../support/sweep-at.ts';
import {
  ACCOUNT_ID,
  ALL,
  type CallSpec,
  declarePrice,
  expectSound,
  mapModel,
  openStage,
  removeDeclarations,
  reprice,
  request,
  rowsOf,
  type Stage,
  stageKind,
  startRunner,
  storeCalls,
  waitForResult,
} from './reprice-stage.ts';
import { waitUntil } from './start-gateway.ts';

const DAY_MS = 86_400_000;
/** Of `gpt-5` at the catalog's prices: 101 × $1.25, 20 × $0.125 and 7 × $10 a million. */
const LIST_COST = '0.000198750000';
/** At the declared ones: 101 × $1 and 7 × $5 a million, and 20 tokens from the cache for nothing. */
const OWN_RATES = { input: '1', cache_read: '0', output: '5' };
const OWN_COST = '0.000136000000';

const COSTS = `select right(id::text, 2), total_cost, known_cost, cost_status, billing_model from llm_requests order by id`;

function unknownModel(number: number, specs: CallSpec['begin'] = {}): CallSpec {
  return {
    number,
    begin: { modelRequested: 'house-1', ...specs },
    end: { modelRequested: 'house-1', model: 'house-1' },
  };
}

/** A call that cost nothing whatever the prices are keeps the model that it was billed as when it came in. */
const PRICED_COLUMNS = `select id, case when cost_status <> 'no_usage' then billing_model end, cost_status, total_cost,
  known_cost, input_cost, cache_read_cost, cache_creation_cost, output_cost, other_cost
  from llm_requests order by id`;

/** The same declared again. */
function ignoreSecond(error: unknown): void {
  if (!(error instanceof pg.DatabaseError) || error.code !== '23505') throw error;
}

/** In runs of five, over three days. */
function manyCalls(count: number): CallSpec[] {
  return Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    begin: {
      requestedAtMs: NOON_MS - (index % 3) * DAY_MS + index,
      traceId: index % 4 === 0 ? null : `run ${index % 5}`,
    },
  }));
}

describe.each(POSTGRES_KINDS)('re-pricing in $name', (kind) => {
  let server: TestPostgres;
  let stage: Stage;
  let url: string;

  beforeAll(async () => {
    server = await startPostgres(kind);
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    url = await server.createDatabase();
    stage = await openStage(url);
    return () => stage.close();
  });

  /** So many connections wait for a lock of another. */
  function waitForWaiting(connections: number): Promise<true> {
    return waitUntil(`${connections} wait`, async () => {
      const [row] = await rowsOf(
        stage,
        `select count(*) = ${connections} from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return Array.isArray(row) && row[0] === true ? true : undefined;
    });
  }

  test('a dry run says by day and model what a declared price changes, and changes nothing', async () => {
    await storeCalls(stage, [
      { number: 1, begin: { traceId: 'run' } },
      { number: 2, begin: { requestedAtMs: NOON_MS - DAY_MS } },
      unknownModel(3),
    ]);
    await declarePrice(stage.pool, 'gpt-5-2025-08-07', OWN_RATES);
    await declarePrice(stage.pool, 'house-1', { input: '2', cache_read: '1', output: '4' });
    const before = await rowsOf(stage, 'select r.* from llm_requests r order by id');
    const { id, result } = await reprice(stage, { dry_run: true, reason: '' });
    expect(result).toEqual({
      dry_run: true,
      calls: 3,
      changed: 3,
      old_cost: '0.00039875',
      new_cost: '0.000527',
      old_unpriced: 1,
      new_unpriced: 0,
    });
    const days = await listDays(stage.pool, id, null, 10);
    expect(days).toEqual([
      {
        day: '2026-11-27',
        provider: 'openai',
        model: 'gpt-5-2025-08-07',
        calls: 1,
        changed: 1,
        old_cost: '0.0002',
        new_cost: '0.000137',
        old_unpriced: 0,
        new_unpriced: 0,
      },
      {
        day: '2026-11-28',
        provider: 'openai',
        model: 'gpt-5-2025-08-07',
        calls: 1,
        changed: 1,
        old_cost: '0.00019875',
        new_cost: '0.000136',
        old_unpriced: 0,
        new_unpriced: 0,
      },
      {
        day: '2026-11-28',
        provider: 'openai',
        model: 'house-1',
        calls: 1,
        changed: 1,
        old_cost: '0',
        new_cost: '0.000254',
        old_unpriced: 1,
        new_unpriced: 0,
      },
    ]);
    expect(await listDays(stage.pool, id, days[1] ?? null, 10)).toEqual([days[2]]);
    expect(await rowsOf(stage, 'select r.* from llm_requests r order by id')).toEqual(before);
    expect(await rowsOf(stage, 'select * from cost_revisions')).toEqual([]);
  });

  test('applied, the call, its revision, its run and its hour have the new cost; a second run changes nothing', async () => {
    await storeCalls(stage, [
      { number: 1, begin: { traceId: 'run' } },
      { number: 2, begin: { traceId: 'run' } },
    ]);
    const [oldVersion] = (await rowsOf(stage, 'select distinct price_version from llm_requests')).flat();
    await declarePrice(stage.pool, 'gpt-5-2025-08-07', OWN_RATES);
    const { id, result } = await reprice(stage, { filters: [`id:eq:${callId(1)}`] });
    expect(result).toMatchObject({
      dry_run: false,
      calls: 1,
      changed: 1,
      old_cost: '0.00019875',
      new_cost: '0.000136',
    });
    expect(await rowsOf(stage, COSTS)).toEqual([
      ['01', OWN_COST, OWN_COST, 'exact', 'gpt-5-2025-08-07'],
      ['02', '0.000200000000', '0.000200000000', 'exact', 'gpt-5-2025-08-07'],
    ]);
    const [columns] = await rowsOf(
      stage,
      `select input_cost, cache_read_cost, cache_creation_cost, output_cost, other_cost, jsonb_array_length(cost_lines),
         cost_lines->0->>'layer', price_version = '${oldVersion}', priced_at > '2026-11-28T12:00Z', usage->'input'
       from llm_requests where id = '${callId(1)}'`,
    );
    const money = ['0.000101000000', '0.000000000000', null, '0.000035000000', null];
    expect(columns).toEqual([...money, 3, 'override', false, expect.any(Boolean), 101]);
    const [revision, ...others] = await listRevisions(stage.pool, ACCOUNT_ID, callId(1));
    expect(others).toEqual([]);
    expect(revision).toMatchObject({
      job_id: id,
      reason: 'as negotiated',
      old_price_version: oldVersion,
      new_price_version: stage.prices.book(1).version,
      old_cost_status: 'exact',
      new_cost_status: 'exact',
      old_total_cost: '0.00019875',
      new_total_cost: '0.000136',
      old_cost_lines: [
        { class: 'input', quantity: 101, rate: '1.25', layer: 'catalog' },
        { class: 'cache_read', quantity: 20, rate: '0.125' },
        { class: 'output', quantity: 7, rate: '10' },
      ],
    });
    expect(await rowsOf(stage, 'select calls, unpriced_calls, total_cost from llm_runs')).toEqual([
      [2, 0, '0.000336000000'],
    ]);
    await foldRollups(stage.pool);
    expect(await rowsOf(stage, 'select calls, unpriced_calls, total_cost, input_tokens from llm_cost_hourly')).toEqual([
      [2, 0, '0.000336000000', 203],
    ]);
    const again = await reprice(stage, { filters: [`id:eq:${callId(1)}`] });
    expect(again.result).toMatchObject({ calls: 1, changed: 0, old_cost: '0.000136', new_cost: '0.000136' });
    expect(await rowsOf(stage, 'select job_id from cost_revisions')).toEqual([[id]]);
  });

  test('of unpriced calls only, one that has a price stays, and so does one whose usage is not whole', async () => {
    const incomplete = { classes: { input: 50 }, reasoning: null, native: {}, isIncomplete: true as const };
    await storeCalls(stage, [
      { number: 1 },
      unknownModel(2, { traceId: 'run' }),
      { number: 3, end: { usage: incomplete } },
      { number: 4, end: { usage: null, usageSource: 'none' } },
    ]);
    await declarePrice(stage.pool, 'gpt-5-2025-08-07', OWN_RATES);
    await declarePrice(stage.pool, 'house-1', { input: '2', cache_read: '1' });
    expect((await reprice(stage, { only: 'unpriced' })).result).toMatchObject({
      calls: 2,
      changed: 2,
      new_unpriced: 2,
    });
    expect(await rowsOf(stage, COSTS)).toEqual([
      ['01', LIST_COST, LIST_COST, 'exact', 'gpt-5-2025-08-07'],
      // Nobody said what output costs.
      ['02', null, '0.000224000000', 'partial', 'house-1'],
      ['03', null, '0.000050000000', 'partial', 'gpt-5-2025-08-07'],
      ['04', null, '0.000000000000', 'no_usage', 'gpt-5-2025-08-07'],
    ]);
    expect((await reprice(stage, { only: 'unpriced' })).result).toMatchObject({
      calls: 2,
      changed: 0,
      old_unpriced: 2,
    });
  });

  test('a price that is taken back makes its calls unpriced again; an id that is mapped is billed as its model', async () => {
    await declarePrice(stage.pool, 'house-1', { input: '2', cache_read: '1', output: '4' });
    await storeCalls(stage, [unknownModel(1, { traceId: 'run' })]);
    await removeDeclarations(stage.pool);
    expect((await reprice(stage)).result).toMatchObject({
      changed: 1,
      old_cost: '0.00025',
      new_cost: '0',
      new_unpriced: 1,
    });
    const unpriced = ['01', null, '0.000000000000', 'unpriced', 'house-1'];
    expect(await rowsOf(stage, COSTS)).toEqual([unpriced]);
    expect(await rowsOf(stage, 'select unpriced_calls, total_cost from llm_runs')).toEqual([[1, '0.000000000000']]);
    await mapModel(stage.pool, 'house-1', 'gpt-5');
    expect((await reprice(stage, { only: 'unpriced' })).result).toMatchObject({ changed: 1, new_cost: '0.00019875' });
    expect(await rowsOf(stage, COSTS)).toEqual([['01', LIST_COST, LIST_COST, 'exact', 'gpt-5']]);
    const revisions = await listRevisions(stage.pool, ACCOUNT_ID, callId(1));
    expect(revisions.map((one) => [one.old_billing_model, one.old_known_cost, one.new_billing_model])).toEqual([
      ['house-1', '0', 'gpt-5'],
      ['house-1', '0.00025', 'house-1'],
    ]);
  });

  test('the range and the filters say which calls: from is in, to is out', async () => {
    await storeCalls(
      stage,
      [1, 2, 3, 4].map((number) => ({ number, begin: { metadata: [['Feature', number === 2 ? 'chat' : 'search']] } })),
    );
    await declarePrice(stage.pool, 'gpt-5-2025-08-07', OWN_RATES);
    const from = new Date(NOON_MS + 1).toISOString();
    const to = new Date(NOON_MS + 4).toISOString();
    expect((await reprice(stage, { from, to, filters: ['metadata.feature:eq:search'] })).result).toMatchObject({
      calls: 2,
      changed: 2,
    });
    expect(await rowsOf(stage, 'select right(request_id::text, 1) from cost_revisions order by 1')).toEqual([
      ['1'],
      ['3'],
    ]);
  });

  test('stopped in the middle and resumed, it goes on where it was; a chunk of a broken connection has not happened', async () => {
    await storeCalls(stage, manyCalls(700));
    await declarePrice(stage.pool, 'gpt-5-2025-08-07', OWN_RATES);
    const id = await request(stage, ALL);
    const chunks: number[] = [];
    const first = startRunner(
      stage,
      stageKind(stage, { maxRows: 150, chunks: 4, beforeChunk: async (chunk) => void chunks.push(chunk) }),
    );
    // The barrier, the count, and twice some calls: fewer of them when this machine is slow.
    const done = await waitUntil('two chunks of calls', async () => {
      const job = await readJob(stage.pool, 1, id);
      return chunks.length === 4 && job !== null && job.done > 150 ? job.done : undefined;
    });
    await first.stop();
    expect(chunks).toEqual([1, 2, 3, 4]);
    expect(done).toBeLessThanOrEqual(300);
    await expectSound(stage);
    expect(await rowsOf(stage, 'select count(*) from cost_revisions')).toEqual([[done]]);
    await inTransaction(stage.pool, (client) => cancelJob(client, ACCOUNT_ID, id));
    expect(await inTransaction(stage.pool, (client) => resumeJob(client, ACCOUNT_ID, id))).toBe('resumed');

    let isBroken = false;
    const breaking = startRunner(
      stage,
      stageKind(stage, {
        maxRows: 150,
        beforeChunk: async () => {
          if (isBroken) return;
          isBroken = true;
          await stage.pool.query(
            `select pg_terminate_backend(pid) from pg_stat_activity
             where datname = current_database() and state = 'idle in transaction' and pid <> pg_backend_pid()`,
          );
        },
      }),
    );
    expect(await waitForResult(stage, id)).toMatchObject({ calls: 700, changed: 700 });
    await breaking.stop();
    await expectSound(stage);
    expect(await rowsOf(stage, 'select count(*), count(distinct request_id) from cost_revisions')).toEqual([
      [700, 700],
    ]);
    expect((await reprice(stage)).result).toMatchObject({ calls: 700, changed: 0 });
  });

  test('a batch with older prices is waited for; prices that change meanwhile count from there on, and the result says so', async () => {
    await storeCalls(stage, manyCalls(300));
    const batch = new pg.Client(url);
    await batch.connect();
    await batch.query(BEGIN_BATCH);
    await declarePrice(stage.pool, 'gpt-5-2025-08-07', OWN_RATES);
    const id = await request(stage, ALL);
    const runner = startRunner(
      stage,
      stageKind(stage, {
        maxRows: 100,
        beforeChunk: async (chunk) => {
          if (chunk === 5) await declarePrice(batch, 'gpt-5-2025-08-07-none', OWN_RATES);
        },
      }),
    );
    await waitUntil('the job waits', async () => {
      const job = await readJob(stage.pool, ACCOUNT_ID, id);
      return job?.error?.startsWith('55P03') ? true : undefined;
    });
    expect(await rowsOf(stage, 'select count(*) from cost_revisions')).toEqual([[0]]);
    await batch.query('commit');
    const result = await waitForResult(stage, id);
    await runner.stop();
    await batch.end();
    expect(result).toMatchObject({ calls: 300, changed: 300 });
    expect(result['price_versions']).toHaveLength(2);
    await expectSound(stage);
  });

  test('a call that gets its real ending while it is being priced keeps the cost of that ending', async () => {
    await stage.prices.refresh(stage.pool);
    const begin = callBegin(1, { traceId: 'run', metadata: [] });
    const { priceCall } = stage.prices.book(1);
    await stage.session.ingest([
      makeInterruptedItem(begin, callCheckpoint(1), { process: 'p', priceCall, nowMs: NOON_MS }),
    ]);
    await storeCalls(stage, [{ number: 2, begin: { traceId: 'run' } }]);
    await declarePrice(stage.pool, 'gpt-5-2025-08-07', OWN_RATES);
    const other = new pg.Client(url);
    await other.connect();
    await other.query("begin; select from llm_runs where trace_id = 'run' for update");
    let ending: Promise<void> | null = null;
    const { result } = await reprice(
      stage,
      {},
      {
        beforeChunk: async (chunk) => {
          if (chunk !== 3) return;
          // It has taken the interrupted call out, and waits for the run; the chunk then waits for the call.
          ending = storeCalls(stage, [{ number: 1, begin: { traceId: 'run' } }]);
          await waitForWaiting(1);
          void waitForWaiting(2).then(() => other.query('commit'));
        },
      },
    );
    await ending;
    await other.end();
    expect(result).toMatchObject({ calls: 1, changed: 1 });
    expect(await rowsOf(stage, COSTS)).toEqual([
      ['01', OWN_COST, OWN_COST, 'exact', 'gpt-5-2025-08-07'],
      ['02', '0.000137000000', '0.000137000000', 'exact', 'gpt-5-2025-08-07'],
    ]);
    expect(await rowsOf(stage, 'select right(request_id::text, 1) from cost_revisions')).toEqual([['2']]);
  });

  test('so does one that got it after it was read and before it would have been written', async () => {
    await stage.prices.refresh(stage.pool);
    const { priceCall } = stage.prices.book(1);
    const begin = callBegin(1, { traceId: 'run', metadata: [] });
    await stage.session.ingest([
      makeInterruptedItem(begin, callCheckpoint(1), { process: 'p', priceCall, nowMs: NOON_MS }),
    ]);
    await storeCalls(stage, [{ number: 2, begin: { traceId: 'run' } }]);
    await declarePrice(stage.pool, 'gpt-5-2025-08-07', OWN_RATES);
    const beforeWriting = () => storeCalls(stage, [{ number: 1, begin: { traceId: 'run' } }]);
    const { result } = await reprice(stage, {}, { beforeWriting });
    expect(result).toMatchObject({ calls: 1, changed: 1 });
    expect(await rowsOf(stage, COSTS)).toMatchObject({ 0: { 1: OWN_COST }, 1: { 1: '0.000137000000' } });
  });

  test('days that retention drops are gone, and what is history of their runs stays as it was', async () => {
    await storeCalls(stage, manyCalls(60));
    await storeCalls(stage, [{ number: 100, begin: { traceId: 'old run', requestedAtMs: NOON_MS - 5 * DAY_MS } }]);
    await sweepAt(NOON_MS + 1_000, { pool: stage.pool, limits: { rowsDays: 2, bodiesDays: 2 } });
    await declarePrice(stage.pool, 'gpt-5-2025-08-07', OWN_RATES);
    expect((await reprice(stage)).result).toMatchObject({ calls: 60, changed: 60 });
    expect(await rowsOf(stage, `select is_history, total_cost from llm_runs where trace_id = 'old run'`)).toEqual([
      [true, '0.000322500000'],
    ]);
  });

  test('whatever the calls and the prices, every cost is the one that a new call would have, and twice is once', async () => {
    const tokens = fc.nat({ max: 400_000 });
    const call = fc.record({
      model: fc.constantFrom('gpt-5', 'house-1', 'house-2', 'gpt-5-nano', null),
      usage: fc.option(fc.record({ input: tokens, cache_read: tokens, output: tokens })),
      usageSource: fc.constantFrom('provider' as const, 'partial' as const),
      hour: fc.nat({ max: 60 }),
      run: fc.constantFrom('a', 'b', null),
    });
    const rate = fc.nat({ max: 100_000 }).map((number) => `${number / 1_000}`);
    const change = fc.oneof(
      fc.record({ model: fc.constantFrom('house-1', 'gpt-5'), input: rate, output: rate }),
      fc.record({ map: fc.constantFrom('house-2', 'gpt-5-nano') }),
      fc.constant('remove' as const),
    );
    let databasesMade = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { minLength: 1, maxLength: 30 }),
        fc.array(fc.tuple(change, fc.boolean()), { minLength: 1, maxLength: 3 }),
        async (calls, changes) => {
          databasesMade += 1;
          const own = await openStage(await server.createDatabase(`property_${databasesMade}`));
          try {
            const specs = calls.map(
              ({ model, usage, usageSource, hour, run }, index): CallSpec => ({
                number: index + 1,
                begin: { modelRequested: model, traceId: run, requestedAtMs: NOON_MS - hour * 3_600_000 + index },
                end: {
                  model,
                  modelRequested: model,
                  usageSource: usage === null ? 'none' : usageSource,
                  usage: usage === null ? null : { classes: usage, reasoning: null, native: {} },
                },
              }),
            );
            await storeCalls(own, specs);
            for (const [one, isAll] of changes) {
              if (one === 'remove') await removeDeclarations(own.pool);
              else if ('map' in one) await mapModel(own.pool, one.map, 'gpt-5').catch(ignoreSecond);
              else
                await declarePrice(own.pool, one.model, { input: one.input, output: one.output }).catch(ignoreSecond);
              await reprice(own, { only: isAll ? 'all' : 'unpriced' }, { maxRows: 100 });
            }
            await reprice(own);
            const priced = await rowsOf(own, PRICED_COLUMNS);
            expect((await reprice(own)).result).toMatchObject({ changed: 0 });
            expect(await rowsOf(own, PRICED_COLUMNS)).toEqual(priced);
            await own.pool.query(`truncate llm_requests, llm_runs, llm_run_facets, ${HOURLY_TABLES.join(', ')}`);
            await storeCalls(own, specs);
            expect(await rowsOf(own, PRICED_COLUMNS)).toEqual(priced);
          } finally {
            await own.close();
          }
        },
      ),
      { numRuns: 3 },
    );
  });

  test('after an update of the list prices calls without a cost are priced again, once, and no others', async () => {
    const update = (own: string) => queueUpdate(stage.pool, own, 'book 7');
    await storeCalls(stage, [{ number: 1 }, unknownModel(2)]);
    // The first start on an empty log: calls that were quicker than this question have the prices of now.
    expect(await update('list 1')).toEqual({ type: 'nothing' });
    expect(await update('list 1')).toEqual({ type: 'nothing' });
    await declarePrice(stage.pool, 'house-1', { input: '2', cache_read: '1', output: '4' });
    await declarePrice(stage.pool, 'gpt-5-2025-08-07', OWN_RATES);
    expect(await update('list 1')).toEqual({ type: 'nothing' });
    expect(await update('list 2')).toEqual({ type: 'queued', jobIds: [1] });
    expect(await update('list 2')).toEqual({ type: 'nothing' });
    expect(await update('list 3')).toEqual({ type: 'busy' });
    const runner = startRunner(stage, stageKind(stage));
    expect(await waitForResult(stage, 1)).toMatchObject({ calls: 1, changed: 1, new_cost: '0.000252' });
    await runner.stop();
    expect(await rowsOf(stage, COSTS)).toMatchObject({ 0: { 1: LIST_COST }, 1: { 1: '0.000252000000' } });
    const [revision] = await listRevisions(stage.pool, ACCOUNT_ID, callId(2));
    expect(revision?.reason).toBe('price book updated to book 7');
    // Now every call has a cost.
    expect(await update('list 3')).toEqual({ type: 'nothing' });
    await stage.pool.query(
      `insert into price_catalogs (name, origin, sha256, checked_on, models, content, is_active)
       values ('x', 'file', sha256('x'), '2026-11-28', 0, '[]', true)`,
    );
    await storeCalls(stage, [unknownModel(3), { number: 4, begin: { modelRequested: 'x' }, end: { model: 'x' } }]);
    expect(await update('list 3')).toMatchObject({ type: 'queued' });
  });

  test('an estimated cost follows prices too, outside of every sum and without a revision', async () => {
    await storeCalls(stage, [
      { number: 1, begin: { traceId: 'run' }, end: { usage: null, usageSource: 'none' } },
      { number: 2, end: { usageSource: 'partial' } },
    ]);
    await stage.pool.query(
      `update llm_requests set estimated_tokens = '{"input": 100, "output": 10, "method": "o200k_base"}', estimated_cost = 0.5`,
    );
    await declarePrice(stage.pool, 'gpt-5-2025-08-07', { input: '1', output: '5' });
    const estimates =
      'select right(id::text, 2), estimated_cost, total_cost, cost_status from llm_requests order by id';
    const before = await rowsOf(stage, estimates);
    expect((await reprice(stage, { dry_run: true }, { priceEstimate })).result).toMatchObject({ calls: 1, changed: 1 });
    expect(await rowsOf(stage, estimates)).toEqual(before);
    expect((await reprice(stage, {}, { priceEstimate })).result).toMatchObject({ calls: 1, changed: 1 });
    expect(await rowsOf(stage, estimates)).toEqual([
      ['01', '0.000150000000', null, 'no_usage'],
      // With 20 tokens from the cache, as reported, at the catalog's price.
      ['02', '0.000152500000', null, 'partial'],
    ]);
    expect(await rowsOf(stage, 'select right(request_id::text, 2) from cost_revisions')).toEqual([['02']]);
  });

  test('of corrections one at a time is under way; a dry run may go beside it', async () => {
    await request(stage, ALL);
    expect(await requestRepricing(stage.pool, ACCOUNT_ID, { ...ALL, only: 'unpriced' })).toEqual({ type: 'busy' });
    await request(stage, { ...ALL, dry_run: true });
    expect(await requestRepricing(stage.pool, ACCOUNT_ID, { ...ALL, dry_run: true })).toEqual({ type: 'busy' });
  });
});
