/** Counts trials of a run's budget, tells of each that was not as it must be, and prints the sums. */
import type { PicoUsd } from '../../src/vocabulary/usd.ts';
import type { TrialAnswers } from '../../test/support/budgets/budget-trial.ts';

/** A budget is useful when so much of it is used. */
const LEAST_SHARE = 0.9;

export interface Trial {
  readonly seed: number;
  readonly budget: PicoUsd;
  /** In the provider's books. */
  readonly cost: PicoUsd;
  /** By the gateway; null where something stayed reserved. */
  readonly spent: PicoUsd | null;
  readonly burst: TrialAnswers;
  readonly rest: TrialAnswers;
  readonly wasKilled: boolean;
  readonly lastRefusal: string;
}

export class TrialTally {
  readonly #counts = { trials: 0, over: 0, reservedLeft: 0, kills: 0, refused: 0, admitted: 0, odd: 0 };
  readonly #shares: number[] = [];

  note({ seed, budget, cost, spent, burst, rest, wasKilled, lastRefusal }: Trial): void {
    const counts = this.#counts;
    counts.trials += 1;
    if (wasKilled) counts.kills += 1;
    counts.refused += burst.refused + rest.refused;
    counts.admitted += burst.admitted + rest.admitted;
    if (!wasKilled) counts.odd += burst.odd.length + rest.odd.length;
    if (cost > budget || (spent !== null && (spent > budget || cost > spent))) {
      counts.over += 1;
      process.stdout.write(`seed ${seed}: cost ${cost}, spent ${spent}, budget ${budget}\n`);
    }
    if (spent === null) {
      counts.reservedLeft += 1;
      process.stdout.write(`seed ${seed}: something stayed reserved\n`);
      return;
    }
    const share = Number((spent * 1_000n) / budget) / 1_000;
    this.#shares.push(share);
    if (share < LEAST_SHARE)
      process.stdout.write(
        `seed ${seed}${wasKilled ? ', a process killed' : ''}: used ${share}; of the burst ${burst.admitted} were admitted, then ${rest.admitted}, and ${rest.refused} refused: ${readSums(lastRefusal)}\n`,
      );
  }

  /** Printed every so often too, so that a run that is ended early has said something. */
  print(): void {
    const shares = this.#shares.toSorted((a, b) => a - b);
    const underUsed = shares.filter((share) => share < LEAST_SHARE).length;
    const used = { leastShareUsed: shares[0], medianShareUsed: shares[shares.length >> 1], underUsed };
    process.stdout.write(`${JSON.stringify({ ...this.#counts, ...used })}\n`);
  }

  get isGood(): boolean {
    return this.#counts.over + this.#counts.reservedLeft === 0;
  }
}

/** What is spent, reserved and asked for, of a refusal's words. */
function readSums(refusal: string): string {
  return /\$[\d.]+ spent.*?for this call/.exec(refusal)?.[0] ?? refusal.slice(0, 300);
}
