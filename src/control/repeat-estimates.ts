/**
 * Estimates what calls without usage have cost, step by step, as long as the process lives. Failures wait for the next
 * time.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { isDatabaseDown } from '../admin/api-error.ts';
import { estimateCalls, STEP_CALLS } from '../estimates/estimate-calls.ts';
import { createMeasurer } from '../estimates/measurer.ts';
import type { PriceCall } from '../pricing/billable-call.ts';
import type { SharedSettings } from '../store/shared-settings.ts';
import { type Repeating, repeat } from './repeat.ts';

const POLL_MS = 3_000;
/** There are more: others have their turn meanwhile, for half as long as the step took. */
const PAUSE_SHARE = 0.5;
const MIN_PAUSE_MS = 200;
/** Another node does it. */
const RETRY_MS = 15_000;
const DAY_MS = 86_400_000;

export interface RepeatEstimatesOptions {
  readonly pool: pg.Pool;
  /** Of this node: off leaves the work to others. */
  readonly own: 'on' | 'off';
  readonly shared: () => SharedSettings | null;
  readonly nowMs: () => number;
  readonly priceCall: PriceCall;
  readonly log: Logger;
}

export function repeatEstimates({ pool, own, shared, nowMs, priceCall, log }: RepeatEstimatesOptions): Repeating {
  if (own === 'off') return { stop: () => Promise.resolve() };
  const measurer = createMeasurer();
  const ending = new AbortController();
  const repeating = repeat(async () => {
    const settings = shared();
    // Off for all, or not known yet.
    if (settings?.estimates.value !== 'on') return POLL_MS;
    const sinceMs = nowMs() - (Number(settings.retention_bodies.value) + 1) * DAY_MS;
    const startedMs = performance.now();
    try {
      const looked = await estimateCalls({ pool, priceCall, measurer, sinceMs, signal: ending.signal });
      if (looked === null) return RETRY_MS;
      if (looked < STEP_CALLS) return POLL_MS;
      return Math.max(MIN_PAUSE_MS, (performance.now() - startedMs) * PAUSE_SHARE);
    } catch (error) {
      if (!isDatabaseDown(error)) log.error({ err: error }, 'calls without usage could not be estimated');
      return RETRY_MS;
    }
  });
  return {
    stop: async () => {
      ending.abort();
      await Promise.all([repeating.stop(), measurer.stop()]);
    },
  };
}
