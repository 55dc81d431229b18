/** What is remembered of a run or key for the brakes: sums by time, repeats, and the latest calls. Bounded. */
import { dropOldest } from '../../vocabulary/drop-oldest.ts';
import { type PicoUsd, parseUsd } from '../../vocabulary/usd.ts';
import type { Fact } from './brake-facts.ts';

/** Sums are kept by steps of so many milliseconds, for an hour. */
const STEP_MS = 10_000;
const STEPS = 360;
/** Of each kind. The latest stay; what repeats is among them. */
const MAX_REPEATED = 300;
export const MAX_TIMES = 200;
const MAX_THREADS = 50;
/** Of a thread. */
export const MAX_LATEST = 50;

interface Step {
  readonly fromMs: number;
  /** The first and last beginning of a call in it. */
  firstMs: number;
  lastMs: number;
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

export type Measure = 'calls' | 'unpriced' | 'spent';

/** Calls that began no further apart than was asked for. */
export interface Busiest {
  readonly calls: number;
  readonly unpriced: number;
  readonly spent: PicoUsd;
  /** Before them, from the first call on. */
  readonly spentBefore: PicoUsd;
  readonly lastMs: number;
}

/**
 * A call is added when it has ended and counts where it began. So a long one comes after calls that began later, and what
 * is asked for is the window around it that has most: not what came since, and not only what began before.
 */
export interface SubjectHistory {
  readonly add: (fact: Fact) => void;
  /** When the first began; infinite without any. */
  readonly firstMs: () => number;
  /** Of the windows that the moment is in, the one with most; null when that is longer ago than is remembered. */
  readonly busiest: (measure: Measure, atMs: number, windowMs: number) => Busiest | null;
  /** How often the mark came in the window of those that the moment is in that has it most. */
  readonly times: (kind: RepeatKind, mark: string, atMs: number, windowMs: number) => number;
  readonly thread: (name: string) => Thread | undefined;
}

export type RepeatKind = 'conversation' | 'tool_calls' | 'failure';

export function isFailure(fact: Fact): boolean {
  return fact.isFailed || fact.attempt > 0;
}

/** The most of the moments, in order, that are at most a window apart and have the moment among or between them. */
function mostWithin(sorted: readonly number[], atMs: number, windowMs: number): number {
  let most = 0;
  let first = 0;
  for (const [last, lastMs] of sorted.entries()) {
    while ((sorted[first] ?? lastMs) < lastMs - windowMs) first += 1;
    if ((sorted[first] ?? lastMs) > atMs) break;
    if (lastMs >= atMs) most = Math.max(most, last - first + 1);
  }
  return most;
}

export function createSubjectHistory(): SubjectHistory {
  const steps: Step[] = [];
  const repeated: Readonly<Record<RepeatKind, Map<string, number[]>>> = {
    conversation: new Map(),
    tool_calls: new Map(),
    failure: new Map(),
  };
  const threads = new Map<string, Thread>();
  let spentInAll: PicoUsd = 0n;
  let firstMs = Number.POSITIVE_INFINITY;

  function stepOf(atMs: number): Step {
    const fromMs = Math.floor(atMs / STEP_MS) * STEP_MS;
    // Most calls are stored nearly in the order of their beginning.
    const at = steps.findLastIndex((step) => step.fromMs <= fromMs);
    const found = steps[at];
    if (found?.fromMs === fromMs) {
      found.firstMs = Math.min(found.firstMs, atMs);
      found.lastMs = Math.max(found.lastMs, atMs);
      return found;
    }
    const step: Step = { fromMs, firstMs: atMs, lastMs: atMs, calls: 0, unpriced: 0, spent: 0n };
    steps.splice(at + 1, 0, step);
    if (steps.length > STEPS) steps.shift();
    return step;
  }

  function note(kind: RepeatKind, mark: string | null, atMs: number): void {
    if (mark === null) return;
    const all = repeated[kind];
    const times = all.get(mark) ?? [];
    times.splice(times.findLastIndex((one) => one <= atMs) + 1, 0, atMs);
    if (times.length > MAX_TIMES) times.shift();
    // The latest stand last.
    all.delete(mark);
    all.set(mark, times);
    dropOldest(all, MAX_REPEATED);
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

  function sumUp(first: number, last: number): Busiest {
    let [calls, unpriced, spent, spentSince] = [0, 0, 0n, 0n];
    for (let index = steps.length - 1; index >= first; index -= 1) {
      const step = steps[index];
      if (step === undefined) continue;
      spentSince += step.spent;
      if (index > last) continue;
      calls += step.calls;
      unpriced += step.unpriced;
      spent += step.spent;
    }
    return { calls, unpriced, spent, spentBefore: spentInAll - spentSince, lastMs: steps[last]?.lastMs ?? 0 };
  }

  function busiest(measure: Measure, atMs: number, windowMs: number): Busiest | null {
    const own = steps.findLastIndex((step) => step.fromMs <= atMs);
    const ownStep = steps[own];
    if (ownStep === undefined || atMs > ownStep.lastMs) return null;
    // Money as a floating number finds the window; the sum is exact.
    const weigh = (index: number): number => Number(steps[index]?.[measure] ?? 0);
    const firstMsOf = (index: number): number => steps[index]?.firstMs ?? Number.NEGATIVE_INFINITY;
    let first = own;
    let weight = weigh(own);
    while (firstMsOf(first - 1) >= ownStep.lastMs - windowMs) {
      first -= 1;
      weight += weigh(first);
    }
    let most = { first, last: own, weight };
    for (let last = own + 1; last < steps.length; last += 1) {
      const fromMs = (steps[last]?.lastMs ?? 0) - windowMs;
      if (ownStep.firstMs < fromMs) break;
      weight += weigh(last);
      for (; firstMsOf(first) < fromMs; first += 1) weight -= weigh(first);
      if (weight > most.weight) most = { first, last, weight };
    }
    return sumUp(most.first, most.last);
  }

  return {
    firstMs: () => firstMs,
    add: (fact) => {
      firstMs = Math.min(firstMs, fact.atMs);
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
    busiest,
    times: (kind, mark, atMs, windowMs) => mostWithin(repeated[kind].get(mark) ?? [], atMs, windowMs),
    thread: (name) => threads.get(name),
  };
}
