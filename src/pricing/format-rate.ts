/** Formats rates and costs for sentences: exact, without exponents. */

import { formatUsd, type PicoUsd } from '../vocabulary/usd.ts';
import { type Decimal, formatDecimal } from './decimal.ts';
import { PER_HOUR_OF_MS, PER_MILLION, PER_MINUTE_OF_MS, PER_THOUSAND } from './price-row.ts';

const WORDS: ReadonlyMap<number, string> = new Map([
  [PER_MILLION, 'a million'],
  [PER_THOUSAND, 'a thousand'],
  [PER_MINUTE_OF_MS, 'a minute'],
  [PER_HOUR_OF_MS, 'an hour'],
]);

export function formatPer(per: number): string {
  return WORDS.get(per) ?? `for ${per}`;
}

export function formatRate(rate: Decimal, per: number): string {
  return `$${formatDecimal(rate)} ${formatPer(per)}`;
}

export function formatCost(cost: PicoUsd): string {
  return `$${formatUsd(cost)}`;
}

/** ` from 2026-08-17`, ` over 272000 prompt tokens`, or nothing. */
export function formatWhen(when: { readonly fromMs: number | null; readonly overTokens: number | null }): string {
  const from = when.fromMs === null ? '' : ` from ${new Date(when.fromMs).toISOString().slice(0, 10)}`;
  return `${when.overTokens === null ? '' : ` over ${when.overTokens} prompt tokens`}${from}`;
}
