/** A result that can be fetched more than once (a background response, a batch) is counted by one record. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forgetOldResults } from '../../src/control/shipper/billed-results.ts';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { type IngestSession, openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { migrate } from '../../src/control/store/migrate.ts';
import type { CallBegin, CallEnd } from '../../src/vocabulary/call-record.ts';
import { callBegin, callEnd, NOON_MS, priceByToken } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';

const MIGRATIONS = new URL('../../migrations/', import.meta.url).pathname;

interface Fetch {
  readonly number: number;
  readonly result: string;
  readonly begin?: Partial<CallBegin>;
  readonly end?: Partial<CallEnd>;
}

function itemsOf(fetches: readonly Fetch[]) {
  const entries = fetches.map(({ number, result, begin, end }) => ({
    type: 'end' as const,
    begin: callBegin(number, { billed: false, method: 'GET', traceId: 'run', ...begin }),
    end: callEnd(number, { billedOnceAs: result, ...end }),
  }));
  return buildBatch(entries, { process: 'p', priceCall: priceByToken, nowMs: NOON_MS }).items;
}

describe.each(POSTGRES_KINDS)('on $name', ({ name, binDir }) => {
  let postgres: TestPostgres;
  let pool: pg.Pool;
  let first: IngestSession;
  let second: IngestSession;

  beforeAll(async () => {
    postgres = await startPostgres({ name, binDir });
    pool = new pg.Pool({ connectionString: await postgres.createDatabase('billed_results') });
    pool.on('error', () => {}); // The server stops before its connections do.
    await migrate(pool, MIGRATIONS);
    first = await openIngestSession(pool);
    second = await openIngestSession(pool);
  });
  afterAll(async () => {
    first.close();
    second.close();
    await pool.end();
    await postgres.stop();
  });

  const statusOf = async (numbers: readonly number[]) => {
    const { rows } = await pool.query<{ n: number; cost_status: string; input_tokens: string | null; flags: string[] }>(
      `select ('x' || right(id::text, 8))::bit(32)::int as n, cost_status, input_tokens, flags from llm_requests
       where ('x' || right(id::text, 8))::bit(32)::int = any($1) order by id`,
      [numbers],
    );
    return rows.map(({ cost_status, input_tokens, flags }) => [cost_status, input_tokens, flags]);
  };
  const counted = (number: number) => ['exact', String(100 + number), []];
  const notAgain = ['not_billed', null, ['usage_counted_before']];

  test('in one batch and in later ones the first record counts it, and the run has it once', async () => {
    await first.ingest(
      itemsOf([
        { number: 1, result: 'resp_a' },
        { number: 2, result: 'resp_a' },
      ]),
    );
    await first.ingest(
      itemsOf([
        { number: 3, result: 'resp_a' },
        { number: 4, result: 'resp_b' },
      ]),
    );
    expect(await statusOf([1, 2, 3, 4])).toEqual([counted(1), notAgain, notAgain, counted(4)]);
    const { rows } = await pool.query(
      "select calls, input_tokens, unpriced_calls from llm_runs where trace_id = 'run'",
    );
    expect(rows).toEqual([{ calls: '4', input_tokens: '205', unpriced_calls: '0' }]);
  });

  test('a batch that is shipped again changes nothing', async () => {
    const items = itemsOf([
      { number: 10, result: 'resp_c' },
      { number: 11, result: 'resp_c' },
    ]);
    await first.ingest(items);
    await first.ingest(items);
    await second.ingest(items);
    expect(await statusOf([10, 11])).toEqual([counted(10), notAgain]);
  });

  test('two shippers at once count it once', async () => {
    const numbers = Array.from({ length: 20 }, (_, index) => 100 + index);
    const fetches = numbers.map((number) => ({ number, result: `resp_${number % 5}` }));
    const shipAll = async (session: IngestSession, own: typeof fetches) => {
      for (const fetch of own) await session.ingest(itemsOf([fetch]));
    };
    await Promise.all([
      shipAll(
        first,
        fetches.filter(({ number }) => number % 2 === 0),
      ),
      shipAll(
        second,
        fetches.filter(({ number }) => number % 2 === 1),
      ),
    ]);
    const statuses = (await statusOf(numbers)).map(([status]) => status);
    expect(statuses.filter((status) => status === 'exact')).toHaveLength(5);
    expect(statuses.filter((status) => status === 'not_billed')).toHaveLength(15);
  });

  test('the same id of another account or another provider is another result', async () => {
    await first.ingest(
      itemsOf([
        { number: 200, result: 'same' },
        { number: 201, result: 'same', begin: { provider: 'deepseek' } },
        { number: 202, result: 'same', begin: { accountId: 2 } },
      ]),
    );
    expect((await statusOf([200, 201, 202])).map(([status]) => status)).toEqual(['exact', 'exact', 'exact']);
  });

  test('is remembered for 90 days, or as long as the rows', async () => {
    const days = (count: number) => NOON_MS + count * 86_400_000;
    await forgetOldResults(pool, days(89), 1);
    await forgetOldResults(pool, days(99), 100);
    expect((await pool.query('select from llm_billed_results')).rowCount).toBeGreaterThan(0);
    await forgetOldResults(pool, days(91), 1);
    expect((await pool.query('select from llm_billed_results')).rowCount).toBe(0);
  });
});
