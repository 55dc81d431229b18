/** Whether all of a run is the caller's: only then may its sums be shown. */
import { z } from 'zod';
import { type AskApi, askJson, filterValue, pathOf, type ReadScope, scopedFilters } from './ask-api.ts';
import { readCosts } from './read-costs.ts';

export interface KeyedRun {
  readonly trace_id: string;
  readonly key_ids: readonly number[];
  readonly calls: number;
  readonly open_calls: number;
  readonly started_at: string;
  readonly ended_at: string;
}

/** The API reads the keys of at least so many calls of a run, not of all where there are more. */
const CALLS_READ = 100;

const Open = z.object({ total: z.number() });

export function traceFilter(traceId: string): string {
  return `trace_id:eq:${filterValue(traceId)}`;
}

/** Just beyond its last activity, for windows, whose end is exclusive. */
export function endOf({ ended_at: endedAt }: Pick<KeyedRun, 'ended_at'>): string {
  return new Date(Date.parse(endedAt) + 1).toISOString();
}

export async function isOwnRun(ask: AskApi, scope: ReadScope, run: KeyedRun): Promise<boolean> {
  const { keyIds } = scope;
  if (keyIds === null) return true;
  if (run.key_ids.length === 0 || !run.key_ids.every((id) => keyIds.includes(id))) return false;
  const filter = traceFilter(run.trace_id);
  if (run.calls > CALLS_READ) {
    const window = { from: run.started_at, to: endOf(run), limit: 1 };
    const { totals } = await readCosts(ask, scope, window, [filter]);
    if (totals.calls !== run.calls) return false;
  }
  if (run.open_calls === 0) return true;
  const open = pathOf('/api/v1/logs/open', { limit: 1, fields: 'id' }, scopedFilters(scope, [filter]));
  return (await askJson(ask, Open, open)).total >= run.open_calls;
}
