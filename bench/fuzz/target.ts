/**
 * One thing that is fuzzed: what it is given, and what must hold whatever that is. `runTarget` throws many inputs at it;
 * the first that breaks it is made smaller and reported with the seed that brings it back. It prints nothing.
 */
import fc from 'fast-check';

export interface FuzzFinding {
  /** Why, and the smallest input that shows it. */
  readonly text: string;
}

export interface FuzzResult {
  readonly name: string;
  readonly cases: number;
  readonly seconds: number;
  /** Of one case. */
  readonly worstMs: number;
  readonly finding: FuzzFinding | null;
}

export interface FuzzTarget {
  readonly name: string;
  /** Of the cases that are asked for; slow ones, whose input is not the first thing an attacker reaches, take fewer. */
  readonly share: number;
  readonly run: (cases: number, seed: number) => Promise<FuzzResult>;
}

const MAX_INPUT_CHARS = 4_000;

/** `check` throws when something does not hold. */
export function createTarget<T>(
  name: string,
  share: number,
  input: fc.Arbitrary<T>,
  check: (input: T) => void | Promise<void>,
): FuzzTarget {
  return {
    name,
    share,
    async run(cases, seed) {
      const startedMs = performance.now();
      let worstMs = 0;
      const property = fc.asyncProperty(input, async (value) => {
        const caseMs = performance.now();
        const pending = check(value);
        // Most are done: no turn of the event loop for them.
        if (pending !== undefined) await pending;
        worstMs = Math.max(worstMs, performance.now() - caseMs);
      });
      const details = await fc.check(property, { numRuns: cases, seed, endOnFailure: false });
      const finding = details.failed ? { text: describe(details.errorInstance, details.counterexample) } : null;
      const seconds = (performance.now() - startedMs) / 1_000;
      return { name, cases: details.numRuns, seconds, worstMs, finding };
    },
  };
}

function describe(error: unknown, counterexample: unknown): string {
  const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `${why}\n  input: ${fc.stringify(counterexample).slice(0, MAX_INPUT_CHARS)}`;
}

/** That something holds, in a check. */
export function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`does not hold: ${what}`);
}

/** That two things say the same, as JSON. */
export function mustEqual(actual: unknown, expected: unknown, what: string): void {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (left !== right) throw new Error(`${what} differ:\n  ${cut(left)}\n  ${cut(right)}`);
}

function cut(text: string | undefined): string {
  return (text ?? 'undefined').slice(0, MAX_INPUT_CHARS);
}
