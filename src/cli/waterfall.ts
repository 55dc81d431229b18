/** Formats a run as a tree of steps and calls with costs, tokens, durations and a time bar. Pure. */

import type { RunCall, RunNode } from '../control/log/run-tree.ts';
import { formatCount, formatDuration, formatMoney, formatSum } from '../vocabulary/format-amounts.ts';
import { type Column, formatTable, right } from './format-table.ts';
import { cutText, terminalText } from './terminal-text.ts';

const NAME_WIDTH = 56;
const BAR_WIDTH = 32;

const COLUMNS: readonly Column[] = [
  'step',
  right('calls'),
  right('cost'),
  right('in'),
  right('out'),
  right('time'),
  '',
];

interface TimeSpan {
  readonly startMs: number;
  readonly endMs: number;
}

/** At least one mark wide, so that no span vanishes. */
function formatBar(whole: TimeSpan, { startMs, endMs }: TimeSpan, mark: string): string {
  const lengthMs = Math.max(1, whole.endMs - whole.startMs);
  const from = Math.min(BAR_WIDTH - 1, Math.floor(((startMs - whole.startMs) / lengthMs) * BAR_WIDTH));
  const to = Math.max(from + 1, Math.ceil(((endMs - whole.startMs) / lengthMs) * BAR_WIDTH));
  return `│${' '.repeat(from)}${mark.repeat(Math.min(to, BAR_WIDTH) - from)}${' '.repeat(BAR_WIDTH - Math.min(to, BAR_WIDTH))}│`;
}

function inputOf(tokens: RunCall['tokens']): number | null {
  const parts = [tokens.inputTokens, tokens.cacheReadInputTokens, tokens.cacheCreationInputTokens];
  return parts.every((part) => part === null) ? null : parts.reduce<number>((sum, part) => sum + (part ?? 0), 0);
}

function markOf({ isError, isLeftByClient }: RunCall): string {
  if (isError) return '✗';
  return isLeftByClient === true ? '◌' : '•';
}

function callRow(call: RunCall, prefix: string, whole: TimeSpan): string[] {
  const model = call.model === null || call.model === call.spanName ? '' : ` (${call.model})`;
  const name = terminalText(`${call.spanName}${model}`);
  const span = { startMs: call.requestedAtMs, endMs: call.respondedAtMs ?? call.requestedAtMs };
  return [
    cutText(`${prefix}${markOf(call)} ${name}`, NAME_WIDTH),
    '',
    call.totalCost === null && call.knownCost !== null && call.knownCost > 0n
      ? formatSum(call.knownCost, 1)
      : formatMoney(call.totalCost),
    formatCount(inputOf(call.tokens)),
    formatCount(call.tokens.outputTokens),
    formatDuration(call.durationMs),
    formatBar(whole, span, call.isError ? '▒' : '█'),
  ];
}

function nodeRow(node: RunNode, label: string, whole: TimeSpan): string[] {
  const startMs = node.startedAtMs ?? whole.startMs;
  const endMs = node.endedAtMs ?? startMs;
  const errors = node.errors === 0 ? '' : ` ✗${node.errors}`;
  return [
    cutText(label, NAME_WIDTH - errors.length) + errors,
    `×${node.calls}`,
    formatSum(node.totalCost, node.unpricedCalls),
    formatCount(inputOf(node.tokens)),
    formatCount(node.tokens.outputTokens),
    formatDuration(endMs - startMs),
    formatBar(whole, { startMs, endMs }, '─'),
  ];
}

function listChildren(node: RunNode): (RunNode | RunCall)[] {
  const startOf = (child: RunNode | RunCall): number =>
    'leaves' in child ? (child.startedAtMs ?? 0) : child.requestedAtMs;
  return [...node.children, ...node.leaves].sort((a, b) => startOf(a) - startOf(b));
}

function addRows(node: RunNode, indent: string, whole: TimeSpan, rows: string[][]): void {
  const children = listChildren(node);
  children.forEach((child, index) => {
    const isLast = index === children.length - 1;
    const branch = `${indent}${isLast ? '└─ ' : '├─ '}`;
    if (!('leaves' in child)) {
      rows.push(callRow(child, branch, whole));
      return;
    }
    rows.push(nodeRow(child, branch + terminalText(child.names.at(-1) ?? ''), whole));
    addRows(child, indent + (isLast ? '   ' : '│  '), whole, rows);
  });
}

export function formatWaterfall(traceId: string, root: RunNode): string[] {
  const startMs = root.startedAtMs ?? 0;
  const whole = { startMs, endMs: root.endedAtMs ?? startMs };
  const rows = [nodeRow(root, terminalText(traceId), whole)];
  addRows(root, '', whole, rows);
  const lines = formatTable(COLUMNS, rows);
  if (root.unpricedCalls > 0)
    lines.push(
      `The cost of ${root.unpricedCalls} of ${root.calls} calls is not wholly known (no price, or no usage): sums with ≥ are "at least".`,
    );
  return lines;
}
