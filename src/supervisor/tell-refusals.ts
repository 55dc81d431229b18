/** Logs refused calls on a node without a dashboard, each code once a minute at most. */
import type { RejectedAttempt } from '../vocabulary/channel.ts';

const REFUSAL_INTERVAL_MS = 60_000;

interface RefusalLog {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export function createRefusalTeller(
  log: RefusalLog,
  nowMs: () => number = () => performance.now(),
): (attempts: readonly RejectedAttempt[]) => void {
  const saidMs = new Map<string, number>();
  return (attempts) => {
    for (const { code, status, method, path, provider, userAgent } of attempts) {
      if (nowMs() - (saidMs.get(code) ?? Number.NEGATIVE_INFINITY) < REFUSAL_INTERVAL_MS) continue;
      saidMs.set(code, nowMs());
      log.warn(
        { code, status, method, path, provider, userAgent },
        'a call was refused; further ones with this code within a minute are counted only (tollgate_refusals_total)',
      );
    }
  };
}
