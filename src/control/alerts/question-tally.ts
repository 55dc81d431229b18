/** What is kept of some calls or runs to answer the question of an alert: it is added up, and taken back. */
import { type PicoUsd, parseUsd } from '../../vocabulary/usd.ts';
import {
  addPacked,
  addValues,
  createDistribution,
  type Distribution,
  packDistribution,
  percentilesOf,
} from '../log/distribution.ts';
import type { AlertQuestion } from './alert-question.ts';

const ONE = parseUsd('1');

/** Of the calls or runs of one step of time. */
export interface Tally {
  count: number;
  failed: number;
  /** Of cost, tokens, calls of runs, or calls without a price. */
  amount: PicoUsd;
  /** Of durations, packed: a month has tens of thousands of steps. Null where the question is not about them. */
  durations: Buffer | null;
}

export function addToStep(
  steps: Map<number, Tally>,
  step: number,
  given: Omit<Tally, 'durations'>,
  list: string | null,
) {
  const before = steps.get(step) ?? { count: 0, failed: 0, amount: 0n, durations: null };
  steps.set(step, {
    count: before.count + given.count,
    failed: before.failed + given.failed,
    amount: before.amount + given.amount,
    durations: list === null ? before.durations : packWith(before.durations, list),
  });
}

function packWith(before: Buffer | null, list: string): Buffer {
  const durations = createDistribution();
  if (before !== null) addPacked(durations, before);
  addValues(durations, list);
  return packDistribution(durations);
}

/** The figure over the steps that are in it now. */
export interface WindowFigure {
  readonly add: (tally: Tally, sign: 1 | -1) => void;
  /** In units of 1e-12; null where there are too few for a share or a percentile. */
  readonly value: () => bigint | null;
}

export function createFigure({ measure, least_count: least }: AlertQuestion): WindowFigure {
  let count = 0;
  let failed = 0;
  let amount = 0n;
  const durations: Distribution = createDistribution();
  const value = (): bigint | null => {
    switch (measure) {
      case 'error_share':
        return count < least ? null : (BigInt(failed) * 100n * ONE) / BigInt(count);
      case 'p95_duration_ms': {
        const [p95] = count < least ? [] : percentilesOf(durations, [0.95]);
        return p95 == null ? null : BigInt(p95) * ONE;
      }
      case 'errors':
        return BigInt(failed) * ONE;
      default:
        return amount;
    }
  };
  return {
    add: (tally, sign) => {
      count += sign * tally.count;
      failed += sign * tally.failed;
      amount += BigInt(sign) * tally.amount;
      if (tally.durations !== null) addPacked(durations, tally.durations, sign);
    },
    value,
  };
}
