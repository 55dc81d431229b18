/** Lays the display tree out as a `RunTable`. Linear but for sorting the calls once; runs in the worker. */
import type { TokenSums } from '../../../../../src/control/log/run-tree.ts';
import type { LeafCall } from './call-columns.ts';
import { type DisplayNode, NO_TOKENS, type Step } from './display-tree.ts';
import { packAmounts, readFoldStatistics, setCostBefore, setProfiles } from './finish-table.ts';
import { CALL, FOLD, type FoldStatistics, ID_LENGTH, OPEN, type RunTable, STEP } from './run-table.ts';
import { createColumns, createTexts, setTokens, UNKNOWN_TOKENS } from './table-columns.ts';

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
    columns.costStatus[row] = numberOf(call.costStatus);
    columns.startMs[row] = call.requestedAtMs;
    columns.endMs[row] = call.respondedAtMs ?? call.requestedAtMs;
    columns.durationMs[row] = call.durationMs ?? Number.NaN;
    columns.firstTokenMs[row] = call.firstTokenMs ?? Number.NaN;
    columns.status[row] = call.status ?? 0;
    columns.attempt[row] = call.attempt ?? 0;
    columns.calls[row] = 1;
    columns.errors[row] = call.isError ? 1 : 0;
    columns.unpriced[row] = call.totalCost === null ? 1 : 0;
    columns.ownUnpriced[row] = columns.unpriced[row];
    // Nothing known is not zero.
    columns.hasCost[row] = call.totalCost !== null || (call.knownCost ?? 0n) !== 0n ? 1 : 0;
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
    columns.ownUnpriced[row] = step.leaves.filter(({ totalCost }) => totalCost === null).length;
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
      columns.ownUnpriced[row] = (columns.ownUnpriced[row] ?? 0) + (columns.ownUnpriced[member] ?? 0);
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
