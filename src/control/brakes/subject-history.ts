/** What is remembered of a run or key for the brakes: sums by time, repeats, and the latest calls. Bounded. */
import { type PicoUsd, parseUsd } from '../../vocabulary/usd.ts';
import type { Fact } from './brake-facts.ts';

/** Sums are kept by steps of so many milliseconds, for an hour. */
const STEP_MS = 10_000;
const STEPS = 360;
/** Of each kind. The latest stay; what repeats is among them. */
const MAX_REPEATED = 300;
const MAX_TIMES = 200;
const MAX_THREADS = 50;
const MAX_LATEST = 50;

interface Step {
  readonly fromMs: number;
  calls: number;
  unpriced: number;
  spent: PicoUsd;
}

/** How the cache was used by calls that share one. */
export interface Thread {
  /** Calls before the latest. */
  earlierCalls: number;
  earlierPrompt: number;
  earlierCached: number;
  readonly latest: { readonly prompt: number; readonly cached: number }[];
}

export interface SubjectHistory {
  readonly add: (fact: Fact) => void;
  readonly firstMs: number;
  readonly calls: (fromMs: number) => number;
  readonly unpriced: (fromMs: number) => number;
  readonly spent: (fromMs: number) => PicoUsd;
  readonly spentInAll: () => PicoUsd;
  /** How often the fact's own mark came since then. */
  readonly times: (kind: RepeatKind, mark: string, fromMs: number) => number;
  readonly thread: (name: string) => Thread | undefined;
}

export type RepeatKind = 'conversation' | 'tool_calls' | 'failure';

export function isFailure(fact: Fact): boolean {
  return fact.isFailed || fact.attempt > 0;
}

export function createSubjectHistory(firstMs: number): SubjectHistory {
  const steps: Step[] = [];
  const repeated: Readonly<Record<RepeatKind, Map<string, number[]>>> = {
    conversation: new Map(),
    tool_calls: new Map(),
    failure: new Map(),
  };
  const threads = new Map<string, Thread>();
  let spentInAll: PicoUsd = 0n;

  function stepOf(atMs: number): Step {
    const fromMs = Math.floor(atMs / STEP_MS) * STEP_MS;
    // Calls are stored nearly in the order of their beginning.
    const at = steps.findLastIndex((step) => step.fromMs <= fromMs);
    const found = steps[at];
    if (found?.fromMs === fromMs) return found;
    const step: Step = { fromMs, calls: 0, unpriced: 0, spent: 0n };
    steps.splice(at + 1, 0, step);
    if (steps.length > STEPS) steps.shift();
    return step;
  }

  function note(kind: RepeatKind, mark: string | null, atMs: number): void {
    if (mark === null) return;
    const all = repeated[kind];
    const times = all.get(mark) ?? [];
    times.push(atMs);
    if (times.length > MAX_TIMES) times.shift();
    // The latest stand last.
    all.delete(mark);
    all.set(mark, times);
    if (all.size > MAX_REPEATED) for (const oldest of all.keys()) return void all.delete(oldest);
  }

  function noteCache(fact: Fact): void {
    if (fact.promptTokens === null || fact.isFailed) return;
    const thread = threads.get(fact.thread) ?? { earlierCalls: 0, earlierPrompt: 0, earlierCached: 0, latest: [] };
    threads.delete(fact.thread);
    threads.set(fact.thread, thread);
    if (threads.size > MAX_THREADS) for (const oldest of threads.keys()) return void threads.delete(oldest);
    thread.latest.push({ prompt: fact.promptTokens, cached: fact.cachedTokens });
    const left = thread.latest.length > MAX_LATEST ? thread.latest.shift() : undefined;
    if (left === undefined) return;
    thread.earlierCalls += 1;
    thread.earlierPrompt += left.prompt;
    thread.earlierCached += left.cached;
  }

  const sum = <T extends number | bigint>(
    fromMs: number,
    zero: T,
    read: (step: Step) => T,
    add: (a: T, b: T) => T,
  ): T => {
    let total = zero;
    for (let index = steps.length - 1; index >= 0; index -= 1) {
      const step = steps[index];
      if (step === undefined || step.fromMs < fromMs) break;
      total = add(total, read(step));
    }
    return total;
  };

  return {
    firstMs,
    add: (fact) => {
      const step = stepOf(fact.atMs);
      step.calls += 1;
      if (fact.isUnpriced) step.unpriced += 1;
      if (fact.cost !== null) {
        const cost = parseUsd(fact.cost);
        step.spent += cost;
        spentInAll += cost;
      }
      note('conversation', fact.conversation, fact.atMs);
      note('tool_calls', fact.toolCalls, fact.atMs);
      if (isFailure(fact)) note('failure', fact.request, fact.atMs);
      noteCache(fact);
    },
    calls: (fromMs) =>
      sum(
        fromMs,
        0,
        (step) => step.calls,
        (a, b) => a + b,
      ),
    unpriced: (fromMs) =>
      sum(
        fromMs,
        0,
        (step) => step.unpriced,
        (a, b) => a + b,
      ),
    spent: (fromMs) =>
      sum(
        fromMs,
        0n,
        (step) => step.spent,
        (a, b) => a + b,
      ),
    spentInAll: () => spentInAll,
    times: (kind, mark, fromMs) => (repeated[kind].get(mark) ?? []).filter((atMs) => atMs >= fromMs).length,
    thread: (name) => threads.get(name),
  };
}
