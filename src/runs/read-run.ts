/** One run: its roll-up and its steps, read in one snapshot, so that the run's sums are those of its calls. */
import type pg from 'pg';
import { inTransaction } from '../store/pool.ts';
import type { LogRecord } from './log-record.ts';
import { formatRunRow, RUN_COLUMNS, type RunRow } from './run-row.ts';
import { listRunSteps } from './run-steps.ts';

/** Null when the account has no ended call with this trace id, and none that is open. */
export function readRun(pool: pg.Pool, accountId: number, traceId: string): Promise<LogRecord | null> {
  return inTransaction(pool, async (client) => {
    await client.query('set transaction isolation level repeatable read, read only');
    const { rows } = await client.query<RunRow>(
      `select ${RUN_COLUMNS} from llm_runs r where r.account_id = $1 and r.trace_id = $2`,
      [accountId, traceId],
    );
    const [run] = rows;
    if (run === undefined) return readBegunRun(client, accountId, traceId);
    const { steps, isCut } = await listRunSteps(client, accountId, traceId, run.started_at, run.ended_at);
    return { ...formatRunRow(run), steps, steps_cut: isCut };
  });
}

/** A run whose first call is still open: nothing is known of it but that. */
async function readBegunRun(client: pg.ClientBase, accountId: number, traceId: string): Promise<LogRecord | null> {
  const { rows } = await client.query<{ open_calls: number; started_at: Date | null }>(
    `select count(*) as open_calls, min(requested_at) as started_at
     from llm_open_calls where account_id = $1 and trace_id = $2`,
    [accountId, traceId],
  );
  const [begun] = rows;
  if (begun?.started_at == null) return null;
  const empty: RunRow = {
    trace_id: traceId,
    calls: 0,
    open_calls: begun.open_calls,
    errors: 0,
    unpriced_calls: 0,
    total_cost: '0',
    input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    output_tokens: 0,
    reasoning_tokens: 0,
    started_at: begun.started_at,
    ended_at: begun.started_at,
    cut_at: null,
  };
  return { ...formatRunRow(empty), steps: [], steps_cut: false };
}
