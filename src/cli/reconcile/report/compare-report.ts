/** Compares a provider's bill with the log, by day and model. Pure. */
import type { PicoUsd } from '../../../vocabulary/usd.ts';
import type { Report } from './collect-report.ts';
import {
  type Comparison,
  type CostRow,
  isGood,
  type LoggedRow,
  type RowStatus,
  type TokenRow,
  type Tolerance,
} from './comparison.ts';
import { type DayGroup, groupDay, otherNames } from './group-day.ts';
import { type ReportKind, TOKEN_CLASSES, type TokenCounts } from './provider-report.ts';

/** Anthropic's lines may be off by half of $0.000001 (cents with five decimals); OpenAI's are exact. */
const ROUNDING_PER_LINE: PicoUsd = 1_000_000n;

const NO_TOKENS: TokenCounts = { input: 0, cacheRead: 0, cacheCreation: 0, output: 0 };
const MILLION = 1_000_000n;

export interface ComparisonInput {
  readonly report: Report;
  readonly logged: readonly LoggedRow[];
  readonly days: Readonly<Record<ReportKind, readonly string[]>>;
  readonly tolerance: Tolerance;
  readonly today: string;
}

function absolute(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

export function addTokens(all: readonly TokenCounts[]): TokenCounts {
  return all.reduce((sum, one) => mapTokens((name) => sum[name] + one[name]), NO_TOKENS);
}

function mapTokens(count: (name: (typeof TOKEN_CLASSES)[number]) => number): TokenCounts {
  return {
    input: count('input'),
    cacheRead: count('cacheRead'),
    cacheCreation: count('cacheCreation'),
    output: count('output'),
  };
}

function isTolerated(drift: bigint, billed: bigint, logged: bigint, tolerance: Tolerance): boolean {
  if (tolerance.type === 'amount') return absolute(drift) <= tolerance.amount;
  return absolute(drift) * MILLION <= tolerance.millionths * larger(absolute(billed), absolute(logged));
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function countCalls(group: DayGroup) {
  const requests = group.lines.flatMap((line) => (line.requests === null ? [] : [line.requests]));
  return {
    name: group.name,
    loggedAs: otherNames(group),
    calls: sumOf(group.logged.map(({ calls }) => calls)),
    errors: sumOf(group.logged.map(({ errors }) => errors)),
    unpriced: sumOf(group.logged.map(({ unpriced }) => unpriced)),
    requests: requests.length === 0 ? null : sumOf(requests),
  };
}

function judgeCost(
  group: DayGroup,
  billed: PicoUsd,
  logged: PicoUsd,
  unpriced: number,
  tolerance: Tolerance,
): RowStatus {
  const drift = billed - logged;
  if (absolute(drift) <= ROUNDING_PER_LINE * BigInt(group.lines.length)) return 'agrees';
  if (isTolerated(drift, billed, logged, tolerance)) return 'within_tolerance';
  if (group.type === 'item') return 'no_model';
  if (group.logged.length === 0) return 'not_logged';
  if (group.lines.length === 0) return 'not_billed';
  return drift > 0n && unpriced > 0 ? 'unpriced_here' : 'drift';
}

function compareCosts(group: DayGroup, day: string, isOpen: boolean, tolerance: Tolerance): CostRow {
  const costs = group.lines.map(({ cost }) => cost ?? 0n);
  const billed = costs.reduce((sum, cost) => sum + cost, 0n);
  const logged = group.logged.reduce((sum, { cost }) => sum + cost, 0n);
  const counts = countCalls(group);
  return {
    day,
    isOpen,
    ...counts,
    billed: group.lines.length === 0 ? null : billed,
    logged: group.logged.length === 0 ? null : logged,
    drift: billed - logged,
    rounding: ROUNDING_PER_LINE * BigInt(group.lines.length),
    status: judgeCost(group, billed, logged, counts.unpriced, tolerance),
  };
}

/**
 * Tool fees are billed as separate items but logged with their model, whose row is lower by them. On a day that agrees
 * as a whole such rows are no drift.
 */
function settleFees(rows: readonly CostRow[], lineCount: number, tolerance: Tolerance): readonly CostRow[] {
  const items = rows.filter(({ status }) => status === 'no_model');
  if (items.length === 0) return rows;
  const billed = rows.reduce((sum, row) => sum + (row.billed ?? 0n), 0n);
  const logged = rows.reduce((sum, row) => sum + (row.logged ?? 0n), 0n);
  const isSame = absolute(billed - logged) <= ROUNDING_PER_LINE * BigInt(lineCount);
  if (!isSame && !isTolerated(billed - logged, billed, logged, tolerance)) return rows;
  const apart = rows.filter(({ status }) => !isGood(status));
  // A row that was billed too much is no fee.
  if (apart.some(({ status, drift }) => status !== 'no_model' && drift > 0n)) return rows;
  return rows.map((row) => (isGood(row.status) ? row : { ...row, status: 'agrees_by_day' }));
}

function judgeTokens(
  group: DayGroup,
  billed: TokenCounts,
  logged: TokenCounts,
  unpriced: number,
  tolerance: Tolerance,
): RowStatus {
  const apart = TOKEN_CLASSES.filter((name) => billed[name] !== logged[name]);
  if (apart.length === 0) return 'agrees';
  const isNear = (name: (typeof TOKEN_CLASSES)[number]) =>
    isTolerated(BigInt(billed[name] - logged[name]), BigInt(billed[name]), BigInt(logged[name]), tolerance);
  if (tolerance.type === 'share' && apart.every(isNear)) return 'within_tolerance';
  if (group.logged.length === 0) return 'not_logged';
  if (group.lines.length === 0) return 'not_billed';
  return unpriced > 0 && apart.every((name) => billed[name] > logged[name]) ? 'unpriced_here' : 'drift';
}

/** Null where the report merges classes that the gateway separates. */
function compareTokens(group: DayGroup, day: string, isOpen: boolean, tolerance: Tolerance): TokenRow | null {
  if (group.lines.some(({ tokens }) => tokens === null)) return null;
  const billed = addTokens(group.lines.flatMap(({ tokens }) => (tokens === null ? [] : [tokens])));
  const logged = addTokens(group.logged.map(({ tokens }) => tokens));
  const counts = countCalls(group);
  return {
    day,
    isOpen,
    ...counts,
    billed: group.lines.length === 0 ? null : billed,
    logged: group.logged.length === 0 ? null : logged,
    drift: mapTokens((name) => billed[name] - logged[name]),
    driftCost: null,
    status: judgeTokens(group, billed, logged, counts.unpriced, tolerance),
  };
}

/** Joins the requests of the usage report to the money of the cost report by day and name. */
function withRequests(row: CostRow, tokens: readonly TokenRow[]): CostRow {
  const found = tokens.find((other) => other.day === row.day && other.name === row.name);
  return found === undefined ? row : { ...row, requests: found.requests };
}

function byCost(a: CostRow, b: CostRow): number {
  const first = larger(absolute(a.billed ?? 0n), absolute(a.logged ?? 0n));
  const second = larger(absolute(b.billed ?? 0n), absolute(b.logged ?? 0n));
  return first === second ? (a.name ?? '').localeCompare(b.name ?? '') : second > first ? 1 : -1;
}

function byName(a: TokenRow, b: TokenRow): number {
  return (a.name ?? '').localeCompare(b.name ?? '');
}

export function compareReport({ report, logged, days, tolerance, today }: ComparisonInput): Comparison {
  const isOpen = (day: string) => day >= today || report.partDays.includes(day);
  const byDay = Map.groupBy(report.lines, ({ day, cost }) => `${cost === null ? 'usage' : 'cost'} ${day}`);
  function groupsOf(day: string, kind: ReportKind): readonly DayGroup[] {
    const lines = byDay.get(`${kind} ${day}`) ?? [];
    return groupDay(
      lines,
      logged.filter((row) => row.day === day),
    );
  }
  const tokens = days.usage.flatMap((day) =>
    groupsOf(day, 'usage')
      .flatMap((group) => compareTokens(group, day, isOpen(day), tolerance) ?? [])
      .toSorted(byName),
  );
  const costs = days.cost.flatMap((day) => {
    const groups = groupsOf(day, 'cost');
    const lineCount = sumOf(groups.map(({ lines }) => lines.length));
    const rows = groups.map((group) => compareCosts(group, day, isOpen(day), tolerance));
    return settleFees(rows, lineCount, tolerance)
      .map((row) => withRequests(row, tokens))
      .toSorted(byCost);
  });
  return { costs, tokens, notices: report.notices };
}
