/** A comparison in words: one sentence for the whole, then what to look at, the largest first. Pure. */
import { formatMoney } from '../format-amounts.ts';
import type { PicoUsd } from '../usd.ts';
import { type Comparison, type CostRow, isGood, type TokenRow } from './comparison.ts';
import { TOKEN_CLASSES, type TokenCounts } from './provider-report.ts';

export interface Explanation {
  /** Of the days that are over: nothing there needs a look. */
  readonly agrees: boolean;
  readonly verdict: string;
  readonly findings: readonly string[];
}

const MAX_FINDINGS = 8;

function absolute(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

function byAmount(a: bigint, b: bigint): number {
  return a === b ? 0 : a > b ? 1 : -1;
}

/** `6.4 %`; of nothing, null. */
export function formatPercent(part: PicoUsd, whole: PicoUsd): string | null {
  if (whole <= 0n) return null;
  const perMille = (absolute(part) * 2_000n + whole) / (2n * whole);
  // A share that rounds to nothing is not nothing.
  if (perMille === 0n && part !== 0n) return '<0.1 %';
  return `${perMille / 10n}.${perMille % 10n} %`;
}

function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

function totalOf(tokens: TokenCounts): number {
  return TOKEN_CLASSES.reduce((sum, name) => sum + tokens[name], 0);
}

function titleOf(row: { readonly day: string; readonly name: string | null }): string {
  return `${row.day} ${row.name ?? 'all models'}`;
}

function countMissing(row: CostRow | TokenRow): number {
  return row.requests === null ? 0 : row.requests - (row.calls - row.errors);
}

function explainMissing(row: CostRow | TokenRow): string | null {
  const missing = countMissing(row);
  if (missing <= 0) return null;
  return `the provider counts ${plural(row.requests ?? 0, 'request', 'requests')}, the log has ${plural(row.calls - row.errors, 'good call', 'good calls')}: ${missing} did not come through the gateway, or the record is lost`;
}

function explainMore(row: CostRow, tokens: TokenRow | undefined): string {
  const missing = explainMissing(row);
  if (missing !== null) return missing;
  if (tokens?.status === 'agrees') return 'the tokens agree, so it is the price: compare the rates';
  if (tokens !== undefined && totalOf(tokens.drift) > 0)
    return `${totalOf(tokens.drift).toLocaleString('en-US')} tokens more were billed than logged: calls around the gateway, or answers that were cut before their usage`;
  return 'calls around the gateway, answers that were cut before their usage, or another price; the usage report tells which';
}

function explainLess(tokens: TokenRow | undefined): string {
  if (tokens?.status === 'agrees')
    return 'the tokens agree, so it is the price: a discount, or a rate that is wrong here';
  return 'calls with the key of another account, projects that the report leaves out, or a price that is too high here';
}

function explainCost(row: CostRow, tokens: TokenRow | undefined): string {
  const title = titleOf(row);
  const amount = formatMoney(absolute(row.drift));
  switch (row.status) {
    case 'not_logged':
      return `${title}: ${amount} billed${row.requests === null ? '' : ` for ${plural(row.requests, 'request', 'requests')}`}, no call logged: traffic that goes around the gateway, or lost records.`;
    case 'not_billed':
      return `${title}: ${amount} logged for ${plural(row.calls, 'call', 'calls')}, nothing billed: another name or another account, or a report that is not complete yet.`;
    case 'unpriced_here':
      return `${title}: ${amount} more billed than known here; ${row.unpriced} of ${plural(row.calls, 'call', 'calls')} ${row.unpriced === 1 ? 'has' : 'have'} no known cost (no price, or an answer cut before its usage): \`tollgate logs --filter total_cost:nohas\` lists them.`;
    case 'no_model':
      return `${title}: ${amount} billed without a model; a fee is logged with the model that caused it, whose row is lower by it.`;
    case 'drift':
      return row.drift > 0n
        ? `${title}: ${amount} more billed than logged: ${explainMore(row, tokens)}.`
        : `${title}: ${amount} less billed than logged: ${explainLess(tokens)}.`;
    case 'agrees':
    case 'within_tolerance':
    case 'agrees_by_day':
      return `${title}: agrees.`;
  }
}

/** ` (about $0.21)`; with its sign where it is not plain from the sentence. */
function formatWorth({ driftCost }: TokenRow): string {
  return driftCost === null || driftCost === 0n ? '' : ` (about ${formatMoney(absolute(driftCost))})`;
}

function explainTokens(row: TokenRow): string {
  const title = titleOf(row);
  const drift = totalOf(row.drift);
  const count = Math.abs(drift).toLocaleString('en-US');
  switch (row.status) {
    case 'not_logged':
      return `${title}: ${count} tokens${formatWorth(row)} reported, no call logged: traffic that goes around the gateway, or lost records.`;
    case 'not_billed':
      return `${title}: ${count} tokens${formatWorth(row)} logged, none reported: another name, or another usage endpoint (embeddings have their own).`;
    default: {
      const missing = explainMissing(row);
      const more = drift >= 0 ? 'more' : 'fewer';
      return `${title}: ${count} tokens ${more}${formatWorth(row)} reported than logged${missing === null ? '' : `: ${missing}`}.`;
    }
  }
}

/** Models whose days differ but whose sum does not: calls around midnight in UTC. */
function listShifted(rows: readonly CostRow[]): ReadonlySet<string> {
  const sums = new Map<string, { drift: bigint; days: number }>();
  for (const { name, drift } of rows) {
    const sum = sums.get(name ?? '') ?? { drift: 0n, days: 0 };
    sums.set(name ?? '', { drift: sum.drift + drift, days: sum.days + 1 });
  }
  return new Set([...sums].filter(([, { drift, days }]) => days > 1 && drift === 0n).map(([name]) => name));
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
  if (drift === 0n) return `The sums agree, but not the rows: ${both}.`;
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
  // Where costs are known they decide; tokens explain them, and stand for the days without.
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
