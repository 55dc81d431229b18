/** Calls whose clients gave up are told apart, in calls, runs and sums; a run of nothing else did not go well. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { type AdminDatabase, endedCall, startAdminDatabase } from '../support/admin-database.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const START_LIMIT_MS = 60_000;

const Rows = z.object({ data: z.array(z.record(z.string(), z.json())) });
const WINDOW = 'from=2026-11-28T00:00:00Z&to=2026-11-29T00:00:00Z';
const LEFT = { outcome: 'client_closed', usage: null, usageSource: 'none', status: null } as const;

describe.each(POSTGRES_KINDS)('clients that gave up, on $name', (kind) => {
  let db: AdminDatabase;

  beforeAll(async () => {
    db = await startAdminDatabase(kind);
    await db.store(
      // Each try timed out at its client.
      endedCall(1_000, { traceId: 'gave-up' }, { ...LEFT, closedBefore: 'head' }),
      endedCall(2_000, { traceId: 'gave-up' }, { ...LEFT, closedBefore: 'head' }),
      endedCall(3_000, { traceId: 'gave-up' }, { ...LEFT, status: 200, closedBefore: 'first_byte' }),
      // The second try went well.
      endedCall(4_000, { traceId: 'once-more' }, { ...LEFT, status: 200, closedBefore: 'end' }),
      endedCall(5_000, { traceId: 'once-more' }),
      endedCall(6_000, { traceId: 'failed' }, { ...LEFT, closedBefore: 'head' }),
      endedCall(7_000, { traceId: 'failed' }, { outcome: 'upstream_error', status: 500 }),
      // Written by a release that did not tell them apart.
      endedCall(8_000, { traceId: 'of-before' }, LEFT),
    );
  }, START_LIMIT_MS);
  afterAll(() => db.stop());

  async function list(path: string, names: readonly string[]): Promise<unknown[][]> {
    const { data } = Rows.parse(await db.read(path));
    return data.map((row) => names.map((name) => row[name]));
  }

  test('a run of which every client gave up is not `ok`; one that went on is', async () => {
    const names = ['trace_id', 'state', 'calls', 'errors', 'client_closed_calls'];
    expect(await list(`/runs?${WINDOW}&sort=started_at`, names)).toEqual([
      ['gave-up', 'client_closed', 3, 0, 3],
      ['once-more', 'ok', 2, 0, 1],
      ['failed', 'errors', 2, 1, 1],
      ['of-before', 'ok', 1, 0, 0],
    ]);
    expect(await db.read('/run?trace_id=gave-up')).toMatchObject({ state: 'client_closed', client_closed_calls: 3 });
  });

  test('filters of runs and of calls find them', async () => {
    expect(await list(`/runs?${WINDOW}&f=run.state:eq:client_closed`, ['trace_id'])).toEqual([['gave-up']]);
    expect(await list(`/runs?${WINDOW}&f=run.state:eq:ok&sort=started_at`, ['trace_id'])).toEqual([
      ['once-more'],
      ['of-before'],
    ]);
    expect(await list(`/runs?${WINDOW}&f=run.client_closed_calls:gte:1&f=run.errors:gte:1`, ['trace_id'])).toEqual([
      ['failed'],
    ]);
    expect(await list(`/logs?${WINDOW}&f=closed_before:eq:head&sort=requested_at`, ['trace_id', 'outcome'])).toEqual([
      ['gave-up', 'client_closed'],
      ['gave-up', 'client_closed'],
      ['failed', 'client_closed'],
    ]);
    expect(await list(`/logs?${WINDOW}&f=outcome:eq:client_closed&f=closed_before:nohas`, ['trace_id'])).toEqual([
      ['of-before'],
    ]);
  });

  test('every sum counts them alike, and the roll-ups are those of the records', async () => {
    expect(await db.read(`/logs/summary?${WINDOW}`)).toMatchObject({ calls: 8, errors: 1, client_closed_calls: 5 });
    expect(await db.read(`/runs/summary?${WINDOW}`)).toMatchObject({ runs: 4, errors: 1, client_closed_calls: 5 });
    expect(await db.read(`/costs?${WINDOW}&group_by=model`)).toMatchObject({ totals: { client_closed_calls: 5 } });
    expect(await verifyRollups(db.pool)).toEqual([]);
  });

  test('a node of the former release, which knows no such count, leaves the roll-ups right', async () => {
    await db.pool.query(`
      insert into llm_runs (account_id, trace_id, calls, errors, unpriced_calls, total_cost, input_tokens,
        cache_read_input_tokens, cache_creation_input_tokens, output_tokens, reasoning_tokens, started_at, ended_at)
      select 1, 'gave-up', 1, 0, 1, 0, 0, 0, 0, 0, 0, requested_at, responded_at
        from llm_requests where trace_id = 'of-before'
      on conflict (account_id, trace_id) do update set calls = llm_runs.calls + excluded.calls,
        unpriced_calls = llm_runs.unpriced_calls + excluded.unpriced_calls, ended_at = excluded.ended_at`);
    await db.pool.query(`update llm_requests set trace_id = 'gave-up' where trace_id = 'of-before'`);
    await db.pool.query(`delete from llm_runs where trace_id = 'of-before'`);
    const runs = (await verifyRollups(db.pool)).filter(({ rollup }) => rollup === 'llm_runs');
    expect(runs).toEqual([]);
    expect(await list(`/runs?${WINDOW}&f=run.trace_id:eq:gave-up`, ['state', 'client_closed_calls'])).toEqual([
      ['ok', 3],
    ]);
  });
});
