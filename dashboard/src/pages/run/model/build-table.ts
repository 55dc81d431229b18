/** Lays the display tree out as a `RunTable`. Linear but for sorting the calls once; runs in the worker. */
import type { TokenSums } from '../../../../../src/runs/run-tree.ts';
import type { LeafCall } from './call-columns.ts';
import { type DisplayNode, NO_TOKENS, type Step } from './display-tree.ts';
import { CALL, FOLD, type FoldStatistics, ID_LENGTH, OPEN, type RunTable, STEP } from './run-table.ts';
import { PROFILE_PARTS, readTimeProfile } from './time-profile.ts';

/** The same text gets the same number; none gets 0. */
function createTexts() {
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

function createColumns(count: number, keys: number) {
  return {
    kind: new Uint8Array(count),
    parent: new Int32Array(count).fill(-1),
    end: new Int32Array(count),
    depth: new Uint16Array(count),
    setSize: new Uint32Array(count),
    positionInSet: new Uint32Array(count),
    slot: new Int32Array(count),
    name: new Uint32Array(count),
    model: new Uint32Array(count),
    provider: new Uint32Array(count),
    outcome: new Uint32Array(count),
    errorType: new Uint32Array(count),
    errorMessage: new Uint32Array(count),
    flags: new Uint32Array(count),
    profiles: new Uint8Array(keys * PROFILE_PARTS),
    activeMs: new Float64Array(count),
    callMs: new Float64Array(count),
    maxParallel: new Uint32Array(count),
    startMs: new Float64Array(count).fill(Number.POSITIVE_INFINITY),
    endMs: new Float64Array(count).fill(Number.NEGATIVE_INFINITY),
    durationMs: new Float64Array(count).fill(Number.NaN),
    firstTokenMs: new Float64Array(count).fill(Number.NaN),
    status: new Uint16Array(count),
    attempt: new Uint16Array(count),
    calls: new Uint32Array(count),
    openCalls: new Uint32Array(count),
    errors: new Uint32Array(count),
    unpriced: new Uint32Array(count),
    hasCost: new Uint8Array(count),
    inputTokens: new Float64Array(count),
    cacheReadTokens: new Float64Array(count),
    cacheCreationTokens: new Float64Array(count),
    outputTokens: new Float64Array(count),
    reasoningTokens: new Float64Array(count),
    costBefore: new Float64Array(count + 1),
  };
}

type Columns = ReturnType<typeof createColumns>;

interface Size {
  rows: number;
  keys: number;
}

function addSize(node: DisplayNode, size: Size): Size {
  size.rows += 1;
  if (node.kind === 'call' || node.kind === 'open') return size;
  size.keys += 1;
  for (const item of node.items) addSize(item, size);
  return size;
}

function setTokens(columns: Columns, row: number, tokens: LeafCall['tokens']): void {
  columns.inputTokens[row] = tokens.inputTokens ?? Number.NaN;
  columns.cacheReadTokens[row] = tokens.cacheReadInputTokens ?? Number.NaN;
  columns.cacheCreationTokens[row] = tokens.cacheCreationInputTokens ?? Number.NaN;
  columns.outputTokens[row] = tokens.outputTokens ?? Number.NaN;
  columns.reasoningTokens[row] = tokens.reasoningTokens ?? Number.NaN;
}

const MAX_INT64 = 2n ** 63n - 1n;

/** A typed array crosses to the page at once; amounts that do not fit one (above nine million dollars) go as they are. */
function packAmounts(amounts: readonly bigint[]): ArrayLike<bigint> {
  const fits = amounts.every((amount) => amount <= MAX_INT64 && amount >= -MAX_INT64);
  return fits ? BigInt64Array.from(amounts) : amounts;
}

function median<T>(sorted: readonly T[]): T | undefined {
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

function byAmount(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Only whole amounts are compared: a member with unpriced calls has no place in an order. */
function readFoldStatistics(columns: Columns, costs: readonly bigint[], members: readonly number[]): FoldStatistics {
  const known = members
    .filter((row) => columns.unpriced[row] === 0)
    .map((row) => costs[row] ?? 0n)
    .sort(byAmount);
  const times = members.map((row) => (columns.endMs[row] ?? 0) - (columns.startMs[row] ?? 0)).sort((a, b) => a - b);
  return {
    minCost: known[0] ?? null,
    medianCost: median(known) ?? null,
    maxCost: known.at(-1) ?? null,
    minMs: times[0] ?? 0,
    medianMs: median(times) ?? 0,
    maxMs: times.at(-1) ?? 0,
  };
}

/** Each call's start and end to every node above it, in order of time: a profile then needs no sorting of its own. */
function setProfiles(columns: Columns, count: number): void {
  const calls: number[] = [];
  for (let row = 0; row < count; row += 1) if (columns.kind[row] === CALL) calls.push(row);
  const starts = new Map<number, number[]>();
  const ends = new Map<number, number[]>();
  const collect = (times: Float64Array, into: Map<number, number[]>) => {
    calls.sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0));
    for (const call of calls)
      for (let above = columns.parent[call] ?? -1; above >= 0; above = columns.parent[above] ?? -1) {
        const list = into.get(above);
        if (list === undefined) into.set(above, [times[call] ?? 0]);
        else list.push(times[call] ?? 0);
      }
  };
  collect(columns.startMs, starts);
  collect(columns.endMs, ends);
  for (const [row, list] of starts) {
    const { parts, activeMs, callMs, maxParallel } = readTimeProfile(list, ends.get(row) ?? []);
    columns.profiles.set(parts, (columns.slot[row] ?? 0) * PROFILE_PARTS);
    columns.activeMs[row] = activeMs;
    columns.callMs[row] = callMs;
    columns.maxParallel[row] = maxParallel;
  }
}

export function buildRunTable(root: Step): RunTable {
  const size = addSize(root, { rows: 0, keys: 0 });
  const columns = createColumns(size.rows, size.keys);
  const { texts, numberOf } = createTexts();
  const keys: string[] = [];
  const ids: string[] = [];
  const foldStatistics: (FoldStatistics | null)[] = [];
  const totals: bigint[] = [];
  const owns: bigint[] = [];
  let next = 0;

  const addCall = (row: number, call: LeafCall) => {
    const cost = call.totalCost ?? call.knownCost;
    columns.kind[row] = CALL;
    columns.slot[row] = ids.push(call.id.padEnd(ID_LENGTH).slice(0, ID_LENGTH)) - 1;
    columns.name[row] = numberOf(call.spanName);
    columns.model[row] = numberOf(call.model);
    columns.provider[row] = numberOf(call.provider);
    columns.outcome[row] = numberOf(call.outcome);
    columns.errorType[row] = numberOf(call.errorType);
    columns.errorMessage[row] = numberOf(call.errorMessage);
    columns.flags[row] = call.flags.length === 0 ? 0 : numberOf(call.flags.join(', '));
    columns.startMs[row] = call.requestedAtMs;
    columns.endMs[row] = call.respondedAtMs ?? call.requestedAtMs;
    columns.durationMs[row] = call.durationMs ?? Number.NaN;
    columns.firstTokenMs[row] = call.firstTokenMs ?? Number.NaN;
    columns.status[row] = call.status ?? 0;
    columns.attempt[row] = call.attempt ?? 0;
    columns.calls[row] = 1;
    columns.errors[row] = call.isError ? 1 : 0;
    columns.unpriced[row] = call.totalCost === null ? 1 : 0;
    columns.hasCost[row] = cost === null ? 0 : 1;
    totals[row] = cost ?? 0n;
    owns[row] = cost ?? 0n;
    setTokens(columns, row, call.tokens);
  };

  const addOpen = (row: number, { call }: Extract<DisplayNode, { kind: 'open' }>) => {
    const startMs = Date.parse(call.requested_at);
    columns.kind[row] = OPEN;
    columns.slot[row] = ids.push(call.id.padEnd(ID_LENGTH).slice(0, ID_LENGTH)) - 1;
    columns.name[row] = numberOf(call.span_name);
    columns.model[row] = numberOf(call.model_requested);
    columns.provider[row] = numberOf(call.provider);
    columns.outcome[row] = numberOf('open');
    columns.startMs[row] = startMs;
    columns.endMs[row] = startMs;
    columns.openCalls[row] = 1;
    totals[row] = 0n;
    owns[row] = 0n;
    setTokens(columns, row, UNKNOWN_TOKENS);
  };

  const addItems = (row: number, items: readonly DisplayNode[]): number[] => {
    const depth = (columns.depth[row] ?? 0) + 1;
    return items.map((item, index) => addNode(item, row, depth, items.length, index + 1));
  };

  const addStep = (row: number, { step, key, items }: Step) => {
    columns.kind[row] = STEP;
    columns.slot[row] = keys.push(key) - 1;
    foldStatistics.push(null);
    columns.name[row] = numberOf(step.names.at(-1) ?? '');
    columns.calls[row] = step.calls;
    columns.errors[row] = step.errors;
    columns.unpriced[row] = step.unpricedCalls;
    columns.hasCost[row] = 1;
    totals[row] = step.totalCost;
    owns[row] = step.ownCost;
    setTokens(columns, row, step.tokens);
    addTimes(row, addItems(row, items));
  };

  const addFold = (row: number, { stem, key, items }: Extract<DisplayNode, { kind: 'fold' }>) => {
    const slot = keys.push(key) - 1;
    columns.kind[row] = FOLD;
    columns.slot[row] = slot;
    foldStatistics.push(null);
    columns.name[row] = numberOf(stem);
    const members = addItems(row, items);
    addTimes(row, members);
    let tokens: TokenSums = NO_TOKENS;
    for (const member of members) {
      columns.calls[row] = (columns.calls[row] ?? 0) + (columns.calls[member] ?? 0);
      columns.errors[row] = (columns.errors[row] ?? 0) + (columns.errors[member] ?? 0);
      columns.unpriced[row] = (columns.unpriced[row] ?? 0) + (columns.unpriced[member] ?? 0);
      totals[row] = (totals[row] ?? 0n) + (totals[member] ?? 0n);
      owns[row] = (owns[row] ?? 0n) + (owns[member] ?? 0n);
      tokens = {
        inputTokens: tokens.inputTokens + (columns.inputTokens[member] || 0),
        cacheReadInputTokens: tokens.cacheReadInputTokens + (columns.cacheReadTokens[member] || 0),
        cacheCreationInputTokens: tokens.cacheCreationInputTokens + (columns.cacheCreationTokens[member] || 0),
        outputTokens: tokens.outputTokens + (columns.outputTokens[member] || 0),
        reasoningTokens: tokens.reasoningTokens + (columns.reasoningTokens[member] || 0),
      };
    }
    columns.hasCost[row] = 1;
    setTokens(columns, row, tokens);
    const [first] = members;
    if (first !== undefined && columns.kind[first] === CALL) columns.model[row] = columns.model[first] ?? 0;
    foldStatistics[slot] = readFoldStatistics(columns, totals, members);
  };

  const addTimes = (row: number, items: readonly number[]) => {
    for (const item of items) {
      columns.startMs[row] = Math.min(columns.startMs[row] ?? 0, columns.startMs[item] ?? 0);
      columns.endMs[row] = Math.max(columns.endMs[row] ?? 0, columns.endMs[item] ?? 0);
      columns.openCalls[row] = (columns.openCalls[row] ?? 0) + (columns.openCalls[item] ?? 0);
    }
    if (items.length === 0) [columns.startMs[row], columns.endMs[row]] = [0, 0];
    columns.durationMs[row] = (columns.endMs[row] ?? 0) - (columns.startMs[row] ?? 0);
  };

  /** Depth is capped where span paths are made (200), so recursion is safe. */
  function addNode(node: DisplayNode, parent: number, depth: number, setSize: number, position: number): number {
    const row = next;
    next += 1;
    columns.parent[row] = parent;
    columns.depth[row] = depth;
    columns.setSize[row] = setSize;
    columns.positionInSet[row] = position;
    if (node.kind === 'call') addCall(row, node.call);
    else if (node.kind === 'open') addOpen(row, node);
    else if (node.kind === 'fold') addFold(row, node);
    else addStep(row, node);
    columns.end[row] = next;
    return row;
  }

  addNode(root, -1, 0, 1, 1);
  setProfiles(columns, size.rows);
  const originMs = columns.startMs[0] ?? 0;
  const lengthMs = (columns.endMs[0] ?? 0) - originMs;
  for (let row = 0; row < size.rows; row += 1) {
    columns.startMs[row] = (columns.startMs[row] ?? 0) - originMs;
    columns.endMs[row] = (columns.endMs[row] ?? 0) - originMs;
  }
  setCostBefore(columns, totals, size.rows);
  return {
    ...columns,
    count: size.rows,
    originMs,
    lengthMs,
    texts,
    keys,
    ids: ids.join(''),
    foldStatistics,
    totalCost: packAmounts(totals),
    ownCost: packAmounts(owns),
  };
}

const UNKNOWN_TOKENS: LeafCall['tokens'] = {
  inputTokens: null,
  cacheReadInputTokens: null,
  cacheCreationInputTokens: null,
  outputTokens: null,
  reasoningTokens: null,
};

/** Millionths are enough for a drawing, and keep the sum in whole numbers. */
const SHARE_SCALE = 100_000_000n;

function setCostBefore(columns: Columns, totals: readonly bigint[], count: number): void {
  const whole = totals[0] ?? 0n;
  let before = 0n;
  for (let row = 0; row < count; row += 1) {
    const share = whole === 0n ? 0 : Number((before * SHARE_SCALE) / whole) / Number(SHARE_SCALE);
    columns.costBefore[row] = share;
    if (columns.kind[row] === CALL) before += totals[row] ?? 0n;
  }
  columns.costBefore[count] = whole === 0n ? 0 : 1;
}
