/** The windows of links that lead from a call or a run to a list: what they are about is in it, however old it is. */
import { RANGES, type WindowSearch } from './time-window.ts';

/** The usual window while the instant is well within it, else one as long around it. */
export function windowAround(at: string, usual: '24h' | '30d', nowMs: number): WindowSearch {
  const lengthMs = RANGES[usual].ms;
  const atMs = Date.parse(at);
  if (nowMs - atMs < lengthMs * 0.9) return { range: usual };
  return {
    from: new Date(atMs - lengthMs / 2).toISOString(),
    to: new Date(atMs + lengthMs / 2).toISOString(),
  };
}

interface RunTimes {
  readonly started_at: string;
  readonly ended_at: string;
  readonly open_calls: number;
}

/** All calls of a run; while some are open others may follow. */
export function windowOfRun({ started_at, ended_at, open_calls }: RunTimes): WindowSearch {
  // The end of a window is not in it.
  return open_calls > 0
    ? { from: started_at }
    : { from: started_at, to: new Date(Date.parse(ended_at) + 1_000).toISOString() };
}
