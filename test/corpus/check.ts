/**
 * One check of the corpus or the fuzzer: cases that are thrown at something that reads bytes from outside, and what was found.
 * Below, how a fuzzed one is made: many inputs are drawn, the first that breaks it is made smaller and told. Prints nothing.
 */
import fc from 'fast-check';

export interface CheckResult {
  readonly cases: number;
  /** How often a case was sent: whole, cut, by several clients. */
  readonly exchanges: number;
  /** The longest that one took. */
  readonly worstMs: number;
  /** One text for each thing that is not as it has to be. */
  readonly findings: readonly string[];
  /** Lines that say what came of the cases. */
  readonly notes: readonly string[];
}

export interface Check {
  readonly name: string;
  readonly run: () => Promise<CheckResult>;
}

export interface FuzzTarget {
  readonly name: string;
  /** Its part of the cases asked for; a slow one whose input no attacker reaches first takes fewer. */
  readonly share: number;
  readonly run: (cases: number, seed: number) => Promise<CheckResult>;
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
      let worstMs = 0;
      const property = fc.asyncProperty(input, async (value) => {
        const caseMs = performance.now();
        const pending = check(value);
        // Most are done: no turn of the event loop for them.
        if (pending !== undefined) await pending;
        worstMs = Math.max(worstMs, performance.now() - caseMs);
      });
      const details = await fc.check(property, { numRuns: cases, seed, endOnFailure: false });
      const findings = details.failed ? [describe(details.errorInstance, details.counterexample)] : [];
      return { cases: details.numRuns, exchanges: details.numRuns, worstMs, findings, notes: [] };
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
