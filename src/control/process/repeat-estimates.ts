/** Estimates the cost of calls without usage, step by step. Failures are tried again later. */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { PriceCallOf } from '../../pricing/billable-call.ts';
import { estimateCalls, STEP_CALLS } from '../prices/estimates/estimate-calls.ts';
import { createMeasurer } from '../prices/estimates/measurer.ts';
import type { SharedSettings } from '../store/shared-settings.ts';
import { type Repeating, repeatOnDatabase } from './repeat.ts';

const POLL_MS = 3_000;
/** Half a step's time is left to others. */
const PAUSE_SHARE = 0.5;
const MIN_PAUSE_MS = 200;
const RETRY_MS = 15_000;
const DAY_MS = 86_400_000;

export interface RepeatEstimatesOptions {
  readonly pool: pg.Pool;
  readonly own: 'on' | 'off';
  readonly shared: () => SharedSettings | null;
  readonly nowMs: () => number;
  readonly priceCall: PriceCallOf;
  readonly log: Logger;
}

export function repeatEstimates({ pool, own, shared, nowMs, priceCall, log }: RepeatEstimatesOptions): Repeating {
  if (own === 'off') return { stop: () => Promise.resolve() };
  const measurer = createMeasurer();
  const ending = new AbortController();
  const repeating = repeatOnDatabase({
    pauseMs: RETRY_MS,
    failure: 'calls without usage could not be estimated',
    log,
    run: async () => {
      const settings = shared();
      // Off for all nodes, or not yet known.
      if (settings?.estimates.value !== 'on') return POLL_MS;
      const sinceMs = nowMs() - (Number(settings.retention_bodies.value) + 1) * DAY_MS;
      const startedMs = performance.now();
      const looked = await estimateCalls({ pool, priceCall, measurer, sinceMs, signal: ending.signal });
      if (looked === null) return RETRY_MS;
      if (looked < STEP_CALLS) return POLL_MS;
      return Math.max(MIN_PAUSE_MS, (performance.now() - startedMs) * PAUSE_SHARE);
    },
  });
  return {
    stop: async () => {
      ending.abort();
      await Promise.all([repeating.stop(), measurer.stop()]);
    },
  };
}
