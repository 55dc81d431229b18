/** The tree of a run from its calls, in time order: interior nodes are steps, leaves are calls. Pure. */
import type { PicoUsd } from '../../vocabulary/usd.ts';
import { decodeSpanKey } from './span-path.ts';

export interface TokenSums {
  readonly inputTokens: number;
  readonly cacheReadInputTokens: number;
  readonly cacheCreationInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

export interface RunCall {
  readonly id: string;
  /** The canonical span path; null or empty for a call of the root. */
  readonly spanKey: string | null;
  readonly spanName: string;
  readonly requestedAtMs: number;
  /** Null when the ending was not seen; the call then ends where it began. */
  readonly respondedAtMs: number | null;
  readonly durationMs: number | null;
  readonly isError: boolean;
  readonly isLeftByClient?: true;
  /** Null when a usage class has no price; sums above it are then "at least". */
  readonly totalCost: PicoUsd | null;
  /** Summed where `totalCost` is null. */
  readonly knownCost: PicoUsd | null;
  readonly model: string | null;
  /** Null was not reported and adds nothing to a sum. */
  readonly tokens: Readonly<Record<keyof TokenSums, number | null>>;
}

/** A step, or the root (no names). Sums are inclusive except those named `own`. */
export interface RunNode<Call extends RunCall = RunCall> {
  readonly spanKey: string;
  /** Decoded names from the root down; empty for the root. */
  readonly names: readonly string[];
  /** By first start, then by name. */
  readonly children: readonly RunNode<Call>[];
  /** Calls made directly in this step, in time order. */
  readonly leaves: readonly Call[];
  /** Calls in this step and beneath. */
  readonly calls: number;
  readonly errors: number;
  readonly totalCost: PicoUsd;
  readonly ownCost: PicoUsd;
  /** `totalCost` is "at least" when this is above 0. */
  readonly unpricedCalls: number;
  readonly tokens: TokenSums;
  /** Null only for a run without calls. */
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
}

const NO_TOKENS: TokenSums = {
  inputTokens: 0,
  cacheReadInputTokens: 0,
  cacheCreationInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

interface Draft<Call extends RunCall> {
  readonly spanKey: string;
  readonly children: Map<string, Draft<Call>>;
  readonly leaves: Call[];
}

function createDraft<Call extends RunCall>(spanKey: string): Draft<Call> {
  return { spanKey, children: new Map(), leaves: [] };
}

function placeCall<Call extends RunCall>(root: Draft<Call>, call: Call): void {
  let node = root;
  for (const segment of (call.spanKey ?? '').split('/')) {
    if (segment === '') continue;
    const known = node.children.get(segment);
    const child = known ?? createDraft<Call>(node.spanKey === '' ? segment : `${node.spanKey}/${segment}`);
    if (known === undefined) node.children.set(segment, child);
    node = child;
  }
  node.leaves.push(call);
}

function compareCalls(a: RunCall, b: RunCall): number {
  return a.requestedAtMs - b.requestedAtMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

function compareNodes(a: RunNode, b: RunNode): number {
  return (a.startedAtMs ?? 0) - (b.startedAtMs ?? 0) || (a.spanKey < b.spanKey ? -1 : 1);
}

function addTokens(sums: TokenSums, more: RunCall['tokens']): TokenSums {
  return {
    inputTokens: sums.inputTokens + (more.inputTokens ?? 0),
    cacheReadInputTokens: sums.cacheReadInputTokens + (more.cacheReadInputTokens ?? 0),
    cacheCreationInputTokens: sums.cacheCreationInputTokens + (more.cacheCreationInputTokens ?? 0),
    outputTokens: sums.outputTokens + (more.outputTokens ?? 0),
    reasoningTokens: sums.reasoningTokens + (more.reasoningTokens ?? 0),
  };
}

function minOf(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.min(a, b);
}

function maxOf(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}

/** Recursion is safe: span paths are at most 200 deep. */
function finishNode<Call extends RunCall>(draft: Draft<Call>): RunNode<Call> {
  const children = [...draft.children.values()].map((child) => finishNode(child)).sort(compareNodes);
  const leaves = draft.leaves.sort(compareCalls);
  let calls = leaves.length;
  let errors = 0;
  let ownCost = 0n;
  let unpricedCalls = 0;
  let tokens = NO_TOKENS;
  let startedAtMs: number | null = null;
  let endedAtMs: number | null = null;
  for (const leaf of leaves) {
    if (leaf.isError) errors += 1;
    if (leaf.totalCost === null) unpricedCalls += 1;
    ownCost += leaf.totalCost ?? leaf.knownCost ?? 0n;
    tokens = addTokens(tokens, leaf.tokens);
    startedAtMs = minOf(startedAtMs, leaf.requestedAtMs);
    endedAtMs = maxOf(endedAtMs, leaf.respondedAtMs ?? leaf.requestedAtMs);
  }
  let totalCost = ownCost;
  for (const child of children) {
    calls += child.calls;
    errors += child.errors;
    unpricedCalls += child.unpricedCalls;
    totalCost += child.totalCost;
    tokens = addTokens(tokens, child.tokens);
    startedAtMs = minOf(startedAtMs, child.startedAtMs);
    endedAtMs = maxOf(endedAtMs, child.endedAtMs);
  }
  const { spanKey } = draft;
  const names = decodeSpanKey(spanKey);
  return {
    spanKey,
    names,
    children,
    leaves,
    calls,
    errors,
    totalCost,
    ownCost,
    unpricedCalls,
    tokens,
    startedAtMs,
    endedAtMs,
  };
}

/** Calls come in any order; a repeated id counts once. */
export function buildRunTree<Call extends RunCall>(calls: Iterable<Call>): RunNode<Call> {
  const root = createDraft<Call>('');
  const byId = new Map<string, Call>();
  for (const call of calls) byId.set(call.id, call);
  for (const call of byId.values()) placeCall(root, call);
  return finishNode(root);
}
