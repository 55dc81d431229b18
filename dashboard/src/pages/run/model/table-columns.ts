/** The columns of a table that is being built: empty ones, and what fills several of them at once. */
import type { LeafCall } from './call-columns.ts';
import { PROFILE_PARTS } from './time-profile.ts';

export function createColumns(count: number, keys: number) {
  return {
    kind: new Uint8Array(count),
    /** Row of the node above; -1 for the run. */
    parent: new Int32Array(count).fill(-1),
    /** The row after the last one beneath this node. */
    end: new Int32Array(count),
    /** 0 for the run. */
    depth: new Uint16Array(count),
    setSize: new Uint32Array(count),
    positionInSet: new Uint32Array(count),
    /** Place in `keys` (steps and folds) or in `ids` (calls). */
    slot: new Int32Array(count),
    // Numbers of texts; 0 stands for "none".
    name: new Uint32Array(count),
    model: new Uint32Array(count),
    provider: new Uint32Array(count),
    outcome: new Uint32Array(count),
    errorType: new Uint32Array(count),
    errorMessage: new Uint32Array(count),
    /** Joined with ", ". */
    flags: new Uint32Array(count),
    costStatus: new Uint32Array(count),
    /** `PROFILE_PARTS` numbers for each key. */
    profiles: new Uint8Array(keys * PROFILE_PARTS),
    activeMs: new Float64Array(count),
    callMs: new Float64Array(count),
    maxParallel: new Uint32Array(count),
    startMs: new Float64Array(count).fill(Number.POSITIVE_INFINITY),
    endMs: new Float64Array(count).fill(Number.NEGATIVE_INFINITY),
    // NaN when not known.
    durationMs: new Float64Array(count).fill(Number.NaN),
    firstTokenMs: new Float64Array(count).fill(Number.NaN),
    status: new Uint16Array(count),
    attempt: new Uint16Array(count),
    /** Calls beneath, or 1. */
    calls: new Uint32Array(count),
    openCalls: new Uint32Array(count),
    errors: new Uint32Array(count),
    unpriced: new Uint32Array(count),
    /** Among the calls made directly in a step: with any, `ownCost` is "at least". */
    ownUnpriced: new Uint32Array(count),
    /** 0 for a call whose cost is not known at all. */
    hasCost: new Uint8Array(count),
    // NaN when not reported.
    inputTokens: new Float64Array(count),
    cacheReadTokens: new Float64Array(count),
    cacheCreationTokens: new Float64Array(count),
    outputTokens: new Float64Array(count),
    reasoningTokens: new Float64Array(count),
    /** Share of the run's cost (0..1) that lies before each row; one more entry than rows. For drawing only. */
    costBefore: new Float64Array(count + 1),
  };
}

export type Columns = ReturnType<typeof createColumns>;

export function setTokens(columns: Columns, row: number, tokens: LeafCall['tokens']): void {
  columns.inputTokens[row] = tokens.inputTokens ?? Number.NaN;
  columns.cacheReadTokens[row] = tokens.cacheReadInputTokens ?? Number.NaN;
  columns.cacheCreationTokens[row] = tokens.cacheCreationInputTokens ?? Number.NaN;
  columns.outputTokens[row] = tokens.outputTokens ?? Number.NaN;
  columns.reasoningTokens[row] = tokens.reasoningTokens ?? Number.NaN;
}

export const UNKNOWN_TOKENS: LeafCall['tokens'] = {
  inputTokens: null,
  cacheReadInputTokens: null,
  cacheCreationInputTokens: null,
  outputTokens: null,
  reasoningTokens: null,
};

/** A text gets one number, however often it comes; none gets 0. */
export function createTexts() {
  const texts: string[] = [''];
  const numbers = new Map<string, number>();
  return {
    texts,
    numberOf(text: string | null): number {
      if (text === null) return 0;
      const known = numbers.get(text);
      if (known !== undefined) return known;
      texts.push(text);
      numbers.set(text, texts.length - 1);
      return texts.length - 1;
    },
  };
}
