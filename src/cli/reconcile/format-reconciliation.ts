/** Formats a comparison of a provider's report with the log: money, tokens, findings. */
import { formatCount, formatMoney, formatSum } from '../../vocabulary/format-amounts.ts';
import type { PicoUsd } from '../../vocabulary/usd.ts';
import { type Column, formatTable, right } from '../format-table.ts';
import { cutText, terminalText } from '../terminal-text.ts';
import { type Comparison, type CostRow, isGood, type RowStatus, type TokenRow } from './report/comparison.ts';
import { type Explanation, formatPercent, totalCosts } from './report/explain-comparison.ts';
import { TOKEN_CLASSES, type TokenClass } from './report/provider-report.ts';

const MAX_NAME_CHARACTERS = 44;
const NOTHING = '—';
const ALL_MODELS = '(all models)';

const MARKS: Readonly<Record<RowStatus, string>> = {
  agrees: '✓ agrees',
  within_tolerance: '✓ within tolerance',
  agrees_by_day: '✓ agrees by day',
  drift: '✗ drift',
  not_logged: '✗ not logged',
  not_billed: '✗ not billed',
  unpriced_here: '✗ unpriced here',
  no_model: '✗ no model',
};

function formatName({ name, loggedAs }: CostRow | TokenRow): string {
  const shown = name === null ? ALL_MODELS : cutText(terminalText(name), MAX_NAME_CHARACTERS);
  // Names in brackets are the same model by a declared rule.
  return loggedAs.length === 0 ? shown : `${shown} (= ${terminalText(loggedAs.join(', '))})`;
}

function formatDrift(drift: PicoUsd): string {
  if (drift === 0n) return '0';
  return `${drift > 0n ? '+' : '−'}${formatMoney(drift < 0n ? -drift : drift)}`;
}

/** Relative to the larger side: +100 % is only billed, −100 % only logged. */
function formatShare(drift: PicoUsd, billed: PicoUsd | null, logged: PicoUsd | null): string {
  if (drift === 0n) return '';
  const share = formatPercent(drift, drift > 0n ? (billed ?? 0n) : (logged ?? 0n));
  return share === null ? '' : `${drift > 0n ? '+' : '−'}${share}`;
}

/** Aligns the decimal points of amounts with different precision. */
function alignPoints(rows: readonly (readonly string[])[], column: number): string[][] {
  const decimalsOf = (cell: string) => (cell.includes('.') ? cell.length - cell.indexOf('.') : 0);
  const most = Math.max(...rows.map((row) => decimalsOf(row[column] ?? '')));
  return rows.map((row) =>
    row.map((cell, index) => (index === column ? cell + ' '.repeat(most - decimalsOf(cell)) : cell)),
  );
}

function statusOf(row: CostRow | TokenRow): string {
  if (row.isOpen && !isGood(row.status)) return `… ${MARKS[row.status].slice(2)}`;
  return MARKS[row.status];
}

function formatDay(row: CostRow | TokenRow): string {
  return row.isOpen ? `${row.day} *` : row.day;
}

function withDays<R extends CostRow | TokenRow>(rows: readonly R[], cells: (row: R) => readonly string[]): string[][] {
  return rows.map((row, index) => [rows[index - 1]?.day === row.day ? '' : formatDay(row), ...cells(row)]);
}

const COST_COLUMNS: readonly Column[] = [
  'day (UTC)',
  'model',
  ...['billed', 'logged', 'drift', '', 'calls'].map(right),
  '',
];

function costCells(row: CostRow): readonly string[] {
  return [
    formatName(row),
    row.billed === null ? NOTHING : formatMoney(row.billed),
    row.logged === null ? NOTHING : formatSum(row.logged, row.unpriced),
    formatDrift(row.drift),
    formatShare(row.drift, row.billed, row.logged),
    formatCount(row.calls),
    statusOf(row),
  ];
}

function sumCells(rows: readonly CostRow[]): readonly string[] {
  const { billed, logged, calls } = totalCosts(rows);
  const drift = billed - logged;
  const share = formatShare(drift, billed, logged);
  return [formatMoney(billed), formatMoney(logged), formatDrift(drift), share, formatCount(calls)];
}

const MONEY_COLUMNS = [2, 3, 4] as const;

function formatCostTable(rows: readonly CostRow[]): string[] {
  const days = [...new Set(rows.map(({ day }) => day))];
  const cells = days.flatMap((day) => {
    const ofDay = rows.filter((row) => row.day === day);
    const listed = withDays(ofDay, costCells);
    return ofDay.length > 1 && days.length > 1 ? [...listed, ['', 'sum of the day', ...sumCells(ofDay)]] : listed;
  });
  const closed = rows.filter(({ isOpen }) => !isOpen);
  const label = closed.length < rows.length ? 'total of whole days' : 'total';
  const all = closed.length === 0 ? cells : [...cells, ['', label, ...sumCells(closed)]];
  return formatTable(COST_COLUMNS, MONEY_COLUMNS.reduce(alignPoints, all));
}

const TOKEN_TITLES: Readonly<Record<TokenClass, string>> = {
  input: 'input',
  cacheRead: 'cache read',
  cacheCreation: 'cache write',
  output: 'output',
};
const TOKEN_COLUMNS: readonly Column[] = [
  'day (UTC)',
  'model',
  ...TOKEN_CLASSES.map((name) => right(TOKEN_TITLES[name])),
  right('requests'),
  right('calls'),
  '',
];

function tokenCell(row: TokenRow, name: TokenClass): string {
  const drift = row.drift[name];
  const billed = (row.billed?.[name] ?? 0).toLocaleString('en-US');
  return drift === 0 ? billed : `${billed} (${drift > 0 ? '+' : '−'}${Math.abs(drift).toLocaleString('en-US')})`;
}

function tokenCells(row: TokenRow): readonly string[] {
  return [
    formatName(row),
    ...TOKEN_CLASSES.map((name) => tokenCell(row, name)),
    row.requests === null ? NOTHING : row.requests.toLocaleString('en-US'),
    row.calls.toLocaleString('en-US'),
    statusOf(row),
  ];
}

function listFootnotes({ costs, tokens }: Comparison): readonly string[] {
  const isAnyOpen = [...costs, ...tokens].some(({ isOpen }) => isOpen);
  return [
    ...(isAnyOpen ? ['* not over yet, or not reported whole: both sides still move, and it is not judged.'] : []),
    ...(costs.some(({ status }) => status === 'agrees_by_day')
      ? ['agrees by day: a fee is billed by itself and logged with the model that caused it; the day is the same.']
      : []),
    ...(costs.some(({ unpriced }) => unpriced > 0) ? ['≥ calls without a known cost are in it.'] : []),
  ];
}

export function formatReconciliation(title: string, comparison: Comparison, explanation: Explanation): string[] {
  const { costs, tokens, notices } = comparison;
  const lines = [title];
  if (costs.length > 0) lines.push('', ...formatCostTable(costs));
  if (tokens.length > 0)
    lines.push(
      '',
      'Tokens as the provider reports them; in brackets by how much that is more (+) or less (−) than the log',
      ...formatTable(TOKEN_COLUMNS, withDays(tokens, tokenCells)),
    );
  const footnotes = listFootnotes(comparison);
  if (footnotes.length > 0) lines.push('', ...footnotes);
  lines.push('', terminalText(explanation.verdict), ...explanation.findings.map((text) => `  • ${terminalText(text)}`));
  if (notices.length > 0) lines.push('', ...notices.map((text) => `Note: ${terminalText(text)}`));
  return lines;
}
