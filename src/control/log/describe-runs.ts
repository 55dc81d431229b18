/** Rows of the list of runs as JSON, for the runs of one page: the roll-up, what the run used, and its shape. */
import type pg from 'pg';
import { NO_SHAPE, readRunShapes } from './read-run-shapes.ts';
import { NO_USES, type RunUses, readBegunRunUses, readRunUses } from './read-run-uses.ts';
import { formatRunRow, type RunRow } from './run-row.ts';

export async function describeRuns(pool: pg.Pool, accountId: number, runs: readonly RunRow[]) {
  if (runs.length === 0) return [];
  const begun = runs.filter((run) => run.calls === 0).map((run) => run.trace_id);
  const uses = await readRunUses(
    pool,
    accountId,
    runs.filter((run) => run.calls > 0),
  );
  const begunUses = begun.length === 0 ? new Map<string, RunUses>() : await readBegunRunUses(pool, accountId, begun);
  const shapes = await readRunShapes(pool, accountId, runs);
  return runs.map((run) => ({
    ...formatRunRow(run),
    ...(uses.get(run.trace_id) ?? begunUses.get(run.trace_id) ?? NO_USES),
    ...(shapes.get(run.trace_id) ?? NO_SHAPE),
  }));
}
