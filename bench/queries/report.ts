/** The measurements of all sizes as one table, and the bytes of a call. */
import type { Measured } from './measure.ts';
import { formatCalls } from './stage.ts';
import type { TableSize } from './table-sizes.ts';

/** The tables that only calls with bodies are in. */
const OF_BODIES: readonly string[] = ['llm_bodies', 'llm_texts'];

export interface SizeResult {
  readonly calls: number;
  readonly untilMs: number;
  readonly questions: readonly Measured[];
  readonly tables: readonly TableSize[];
}

function formatMs(ms: number | null): string {
  return ms === null ? '-' : ms < 10 ? ms.toFixed(1) : ms.toFixed(0);
}

function cellsOf(measured: Measured | undefined): readonly string[] {
  if (measured === undefined) return ['', '', ''];
  const { coldMs, p50Ms, p95Ms, error, searchedTo } = measured;
  return [
    formatMs(coldMs),
    formatMs(p50Ms),
    `${formatMs(p95Ms)}${searchedTo === null ? '' : '…'}${error === null ? '' : '!'}`,
  ];
}

/** `…` marks bounded answers, `!` answers that failed; both are said in full below. */
export function formatTable(results: readonly SizeResult[]): string {
  const [smallest] = results;
  const largest = results.at(-1);
  if (smallest === undefined || largest === undefined) return '';
  const find = (result: SizeResult, { group, name }: Measured) =>
    result.questions.find((other) => other.group === group && other.name === name);
  const rows = largest.questions.map((question) => {
    const low = find(smallest, question)?.p95Ms ?? null;
    const ratio =
      low === null || question.p95Ms === null || results.length === 1 ? '' : (question.p95Ms / low).toFixed(1);
    return [
      `${question.group}: ${question.name}`,
      ...results.flatMap((result) => cellsOf(find(result, question))),
      ratio,
    ];
  });
  const head = [
    'ms',
    ...results.flatMap(({ calls }) => [`${formatCalls(calls)} cold`, 'p50', 'p95']),
    results.length === 1 ? '' : 'ratio',
  ];
  return [...formatRows([head, ...rows]), ...results.flatMap(formatRemarks)].join('\n');
}

function formatRemarks({ calls, untilMs, questions }: SizeResult): readonly string[] {
  return questions.flatMap(({ group, name, error, searchedTo }) => [
    ...(searchedTo === null ? [] : [`… ${formatCalls(calls)} ${group}: ${name}: ${formatReach(searchedTo, untilMs)}`]),
    ...(error === null ? [] : [`! ${formatCalls(calls)} ${group}: ${name}: ${error}`]),
  ]);
}

/** In an order by a measure it is the measure. */
function formatReach(searchedTo: string, untilMs: number): string {
  const isTime = /^\d{4}-\d{2}-\d{2}T/.test(searchedTo);
  return isTime ? `covers ${((untilMs - Date.parse(searchedTo)) / 86_400_000).toFixed(2)} days` : `up to ${searchedTo}`;
}

export function formatSizes({ calls, tables }: SizeResult): string {
  const each = (bytes: number, rows: number) => (rows === 0 ? '-' : (bytes / rows).toFixed(0));
  const bytesOf = (some: readonly TableSize[]) =>
    some.reduce((sum, { tableBytes, indexBytes }) => sum + tableBytes + indexBytes, 0);
  const ofBodies = tables.filter(({ table }) => OF_BODIES.includes(table));
  const total = bytesOf(tables);
  const withBodies = Math.max(0, ...ofBodies.map(({ rows }) => rows));
  const rows = tables.map(({ table, rows: count, tableBytes, indexBytes }) => [
    table,
    String(count),
    (tableBytes / 1e6).toFixed(1),
    (indexBytes / 1e6).toFixed(1),
    each(tableBytes + indexBytes, count),
    each(tableBytes + indexBytes, calls),
  ]);
  return [
    `${formatCalls(calls)} calls: ${(total / 1e6).toFixed(0)} MB; ${each(total - bytesOf(ofBodies), calls)} bytes a call without bodies, ${each(bytesOf(ofBodies), withBodies)} more with them`,
    ...formatRows([['table', 'rows', 'MB', 'indexes MB', 'bytes a row', 'bytes a call'], ...rows]),
  ].join('\n');
}

function formatRows(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
