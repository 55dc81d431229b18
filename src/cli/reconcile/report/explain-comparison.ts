/** Puts a comparison into words: a verdict, then findings, the largest first. Pure. */
import { formatMoney } from '../../../vocabulary/format-amounts.ts';
import type { PicoUsd } from '../../../vocabulary/usd.ts';
import { type Comparison, type CostRow, isGood, type TokenRow } from './comparison.ts';
import { absolute, explainCost, explainTokens, plural } from './explain-row.ts';

export interface Explanation {
  readonly agrees: boolean;
  readonly verdict: string;
  readonly findings: readonly string[];
}

const MAX_FINDINGS = 8;

function byAmount(a: bigint, b: bigint): number {
  return a === b ? 0 : a > b ? 1 : -1;
}

/** `6.4 %`; null when the whole is nothing. */
export function formatPercent(part: PicoUsd, whole: PicoUsd): string | null {
  if (whole <= 0n) return null;
  const perMille = (absolute(part) * 2_000n + whole) / (2n * whole);
  // A tiny share must not read as zero.
  if (perMille === 0n && part !== 0n) return '<0.1 %';
  return `${perMille / 10n}.${perMille % 10n} %`;
}

/** Models whose days differ but not their sum: calls around midnight in UTC. */
function listShifted(rows: readonly CostRow[]): ReadonlySet<string> {
  const sums = new Map<string, { drift: bigint; rounding: bigint; days: number }>();
  for (const { name, drift, rounding } of rows) {
    const sum = sums.get(name ?? '') ?? { drift: 0n, rounding: 0n, days: 0 };
    sums.set(name ?? '', { drift: sum.drift + drift, rounding: sum.rounding + rounding, days: sum.days + 1 });
  }
  const isSame = ({ drift, rounding, days }: { drift: bigint; rounding: bigint; days: number }) =>
    days > 1 && absolute(drift) <= rounding;
  return new Set([...sums].filter(([, sum]) => isSame(sum)).map(([name]) => name));
}

function explainCosts({ costs, tokens }: Comparison): readonly string[] {
  const apart = costs.filter((row) => !row.isOpen && !isGood(row.status));
  const shifted = listShifted(apart);
  const rest = apart.filter(({ name }) => !shifted.has(name ?? ''));
  const largest = rest.toSorted((a, b) => byAmount(absolute(b.drift), absolute(a.drift)));
  return [
    ...[...shifted].map(
      (name) => `${name}: days differ, but together they agree: calls around midnight in UTC stand on another day.`,
    ),
    ...largest.map((row) =>
      explainCost(
        row,
        tokens.find((other) => other.day === row.day && other.name === row.name),
      ),
    ),
  ];
}

function sum(rows: readonly CostRow[], of: 'billed' | 'logged'): PicoUsd {
  return rows.reduce((total, row) => total + (row[of] ?? 0n), 0n);
}

export function totalCosts(rows: readonly CostRow[]): {
  readonly billed: PicoUsd;
  readonly logged: PicoUsd;
  readonly calls: number;
} {
  const calls = rows.reduce((total, row) => total + row.calls, 0);
  return { billed: sum(rows, 'billed'), logged: sum(rows, 'logged'), calls };
}

function judgeMoney(rows: readonly CostRow[], isFine: boolean): string {
  const { billed, logged, calls } = totalCosts(rows);
  const both = `${formatMoney(billed)} billed, ${formatMoney(logged)} logged in ${plural(calls, 'call', 'calls')}`;
  if (isFine) {
    const isExact = rows.every(({ status }) => status !== 'within_tolerance');
    return `Everything ${isExact ? 'agrees' : 'is within the tolerance'}: ${both}.`;
  }
  const drift = billed - logged;
  const rounding = rows.reduce((total, row) => total + row.rounding, 0n);
  if (absolute(drift) <= rounding) return `The sums agree, but not the rows: ${both}.`;
  const share = formatPercent(drift, drift > 0n ? billed : logged);
  const part = share === null ? '' : ` (${share})`;
  return drift > 0n
    ? `${formatMoney(drift)} of the bill${part} is not in the log: ${both}.`
    : `${formatMoney(-drift)} of the log${part} is not on the bill: ${both}.`;
}

function judgeTokens(rows: readonly TokenRow[], isFine: boolean): string {
  const apart = rows.filter(({ status }) => !isGood(status)).length;
  if (isFine)
    return `The tokens agree in ${rows.length === 1 ? 'the one row' : `all ${rows.length} rows`}; the report has no costs.`;
  const worth = rows.reduce((sum, { driftCost }) => sum + (driftCost ?? 0n), 0n);
  const about =
    worth === 0n ? '' : `, worth about ${formatMoney(absolute(worth))} ${worth > 0n ? 'more' : 'less'} than logged`;
  return `The tokens differ in ${apart} of ${plural(rows.length, 'row', 'rows')}${about}; the report has no costs.`;
}

export function explainComparison(comparison: Comparison): Explanation {
  const costs = comparison.costs.filter(({ isOpen }) => !isOpen);
  const tokens = comparison.tokens.filter(({ isOpen }) => !isOpen);
  const hasCosts = comparison.costs.length > 0;
  // Known costs decide; tokens explain them and replace them on other days.
  const costDays = new Set(comparison.costs.map(({ day }) => day));
  const alone = tokens.filter(({ day }) => !costDays.has(day));
  const closed = [...costs, ...alone];
  if (closed.length === 0)
    return { agrees: true, verdict: 'No day of the report is over yet: nothing to judge.', findings: [] };
  const findings = [...explainCosts(comparison), ...alone.filter(({ status }) => !isGood(status)).map(explainTokens)];
  const more = findings.length - MAX_FINDINGS;
  const agrees = closed.every(({ status }) => isGood(status));
  const areCostsFine = costs.every(({ status }) => isGood(status));
  return {
    agrees,
    verdict: hasCosts ? judgeMoney(costs, areCostsFine) : judgeTokens(alone, agrees),
    findings: more > 0 ? [...findings.slice(0, MAX_FINDINGS), `and ${more} more rows of the table.`] : findings,
  };
}
