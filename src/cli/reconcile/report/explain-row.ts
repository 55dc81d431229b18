/** Puts one row's difference and its possible causes into words. Pure. */
import { formatMoney } from '../../../vocabulary/format-amounts.ts';
import type { CostRow, TokenRow } from './comparison.ts';
import { TOKEN_CLASSES, type TokenClass, type TokenCounts } from './provider-report.ts';

export function absolute(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

export function plural(count: number, one: string, many: string): string {
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

const CLASS_WORDS: Readonly<Record<TokenClass, string>> = {
  input: 'input',
  cacheRead: 'cached',
  cacheCreation: 'cache-write',
  output: 'output',
};

/** `6,789 input and 20 output`; empty when the log has no more of any. */
function listSurplus({ drift }: TokenRow): string {
  const parts = TOKEN_CLASSES.filter((name) => drift[name] < 0).map(
    (name) => `${(-drift[name]).toLocaleString('en-US')} ${CLASS_WORDS[name]}`,
  );
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

function explainSurplus(tokens: TokenRow): string | null {
  const surplus = listSurplus(tokens);
  if (surplus === '') return null;
  const has = `the log has ${surplus} tokens more than the report`;
  if (tokens.drift.output === 0 && countMissing(tokens) === 0)
    return `${has}, and the same output: tokens that are counted here in two classes, such as cached ones in the input as well`;
  return `${has}: calls with the key of another account, projects that the report leaves out, or answers that are logged twice`;
}

function explainLess(tokens: TokenRow | undefined): string {
  if (tokens?.status === 'agrees')
    return 'the tokens agree, so it is the price: a discount, or a rate that is wrong here';
  const surplus = tokens === undefined ? null : explainSurplus(tokens);
  return (
    surplus ??
    'calls with the key of another account, projects that the report leaves out, or a price that is too high here'
  );
}

export function explainCost(row: CostRow, tokens: TokenRow | undefined): string {
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

/** ` (about $0.21)`, signed where the sentence does not tell the direction. */
function formatWorth({ driftCost }: TokenRow): string {
  return driftCost === null || driftCost === 0n ? '' : ` (about ${formatMoney(absolute(driftCost))})`;
}

export function explainTokens(row: TokenRow): string {
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
