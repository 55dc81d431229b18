/** One run, its roll-up and steps read in one snapshot, so that its sums are those of its calls. */
import type pg from 'pg';
import { inSnapshot } from '../store/pool.ts';
import { NO_SUMS } from './call-sums.ts';
import { NO_USES, readBegunRunUses, readRunUses } from './read-run-uses.ts';
import { formatRunRow, RUN_COLUMNS, type RunRow, readRunRow } from './run-row.ts';
import { listRunSteps } from './run-steps.ts';

/** Returns null when the account has no call, ended or open, with this trace id. */
export function readRun(pool: pg.Pool, accountId: number, traceId: string) {
  return inSnapshot(pool, async (client) => {
    const { rows } = await client.query<Record<string, unknown>>(
      `select ${RUN_COLUMNS} from llm_runs r where r.account_id = $1 and r.trace_id = $2`,
      [accountId, traceId],
    );
    const [row] = rows;
    if (row === undefined) return readBegunRun(client, accountId, traceId);
    const run = readRunRow(row);
    const uses = (await readRunUses(client, accountId, [run])).get(traceId) ?? NO_USES;
    const { steps, isCut } = await listRunSteps(client, accountId, traceId, run.started_at, run.ended_at);
    return { ...formatRunRow(run), ...uses, steps, steps_cut: isCut };
  });
}

async function readBegunRun(client: pg.ClientBase, accountId: number, traceId: string) {
  const { rows } = await client.query<{ open_calls: number; started_at: Date | null; ended_at: Date }>(
    `select count(*) as open_calls, min(requested_at) as started_at, max(requested_at) as ended_at
     from llm_open_calls where account_id = $1 and trace_id = $2`,
    [accountId, traceId],
  );
  const [begun] = rows;
  if (begun === undefined || begun.started_at === null) return null;
  const run: RunRow = {
    ...NO_SUMS,
    trace_id: traceId,
    open_calls: begun.open_calls,
    started_at: begun.started_at,
    ended_at: begun.ended_at,
    cut_at: null,
  };
  const uses = (await readBegunRunUses(client, accountId, [traceId])).get(traceId) ?? NO_USES;
  return { ...formatRunRow(run), ...uses, steps: [], steps_cut: false };
}
