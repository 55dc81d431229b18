/** Money, tokens, durations and sizes on the page: short for the eye, exact on hover and for screen readers' asking. */
import type { ReactNode } from 'react';
import { formatBytes, formatCount, formatDuration, formatSum } from '../../../src/vocabulary/format-amounts.ts';
import { parseUsd } from '../../../src/vocabulary/usd.ts';

/** Made once: `toLocaleString` makes a new one for each number, which a long list of numbers feels. */
const EXACT = new Intl.NumberFormat('en-US');

interface MoneyProps {
  /** Decimal text of the API; null when it is not known. */
  readonly value: string | null;
  /** Calls in the sum whose cost is not fully known: with any, the sum is "at least". */
  readonly unpriced?: number;
  readonly className?: string;
}

export function Money({ value, unpriced = 0, className = '' }: MoneyProps) {
  if (value === null)
    return (
      <span className={`num text-ink-faint ${className}`} title="Not known">
        —
      </span>
    );
  const isAtLeast = unpriced > 0;
  const title = isAtLeast
    ? `At least $${value}: the cost of ${unpriced} ${unpriced === 1 ? 'call' : 'calls'} is not fully known`
    : `$${value}`;
  return (
    <span
      className={`num ${isAtLeast ? 'underline decoration-dotted underline-offset-4' : ''} ${className}`}
      title={title}
    >
      {formatSum(parseUsd(value), unpriced)}
    </span>
  );
}

export function Count({ value, unit = '' }: { readonly value: number | null; readonly unit?: string }) {
  if (value === null)
    return (
      <span className="num text-ink-faint" title="Not reported">
        —
      </span>
    );
  return (
    <span className="num" title={`${EXACT.format(value)}${unit === '' ? '' : ` ${unit}`}`}>
      {formatCount(value)}
    </span>
  );
}

/** A count to its last digit, for sums that must add up. */
export function ExactCount({ value }: { readonly value: number }) {
  return <span className="num">{EXACT.format(value)}</span>;
}

/** As in a record or in sums of the API; absent or null: not reported. */
export interface TokenCounts {
  /** Uncached input. */
  readonly input_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly output_tokens?: number | null;
}

export function sumKnown(values: readonly (number | null | undefined)[]): number | null {
  return values.reduce<number | null>((sum, value) => (value == null ? sum : (sum ?? 0) + value), null);
}

/** `12.4k → 310`, all input together; on hover each class. */
export function Tokens({ of }: { readonly of: TokenCounts }) {
  const { input_tokens: input = null, output_tokens: output = null } = of;
  const { cache_read_input_tokens: cacheRead = null, cache_creation_input_tokens: cacheCreation = null } = of;
  const total = sumKnown([input, cacheRead, cacheCreation]);
  const exact = (name: string, value: number | null) =>
    `${name} ${value === null ? 'not reported' : EXACT.format(value)}`;
  const title = [
    exact('Uncached input', input),
    exact('Read from cache', cacheRead),
    exact('Written to cache', cacheCreation),
    exact('Output', output),
  ].join('\n');
  const share = total === null || total === 0 || cacheRead === null ? 0 : Math.round((cacheRead / total) * 100);
  return (
    <span className="num" title={title}>
      {formatCount(total)} <span className="text-ink-faint">→</span> {formatCount(output)}
      {share > 0 && <span className="ml-1.5 text-xs text-good">{share}% cached</span>}
    </span>
  );
}

export function Duration({ ms }: { readonly ms: number | null }) {
  if (ms === null)
    return (
      <span className="num text-ink-faint" title="Not measured">
        —
      </span>
    );
  return (
    <span className="num" title={`${EXACT.format(ms)} ms`}>
      {formatDuration(ms)}
    </span>
  );
}

export function Bytes({ value }: { readonly value: number | null }) {
  return (
    <span className="num" title={value === null ? 'Not known' : `${EXACT.format(value)} bytes`}>
      {formatBytes(value)}
    </span>
  );
}

/** A share of 0..1 in percent; below 1 % with one digit. */
export function Share({ value }: { readonly value: number | null }) {
  if (value === null) return <span className="num text-ink-faint">—</span>;
  const percent = value * 100;
  const text = percent > 0 && percent < 0.1 ? '<0.1' : percent.toFixed(percent < 1 && percent > 0 ? 1 : 0);
  return <span className="num">{text}%</span>;
}

interface CallCostProps {
  readonly total: string | null;
  /** Null or zero: nothing is known of it. */
  readonly known: string | null;
  /** As in the record; null while the call is open. */
  readonly status: string | null;
}

/** What one call cost, and in a word why that is not known. */
export function CallCost({ total, known, status }: CallCostProps) {
  if (total !== null) return <Money value={total} />;
  if (status === 'unpriced')
    return (
      <span className="text-xs text-warn" title="The price book has no price for this model or endpoint">
        no price
      </span>
    );
  if (status === 'no_usage')
    return (
      <span className="text-xs text-ink-faint" title="The answer did not say how much was used">
        no usage
      </span>
    );
  return status === 'partial' && known !== null ? <Money value={known} unpriced={1} /> : <Money value={null} />;
}

interface BarredCostProps extends MoneyProps {
  /** 0..1: the length of the bar below it, of which a float is good enough. */
  readonly share: number;
  readonly children?: ReactNode;
}

/** A sum in a table with its share as a bar below it; `children` takes the place of the sum. */
export function BarredCost({ share, children, ...money }: BarredCostProps) {
  return (
    <span className="relative inline-block w-full pb-0.5">
      {children ?? <Money {...money} />}
      <span
        aria-hidden="true"
        className="absolute right-0 bottom-0 h-0.5 bg-bar"
        style={{ width: `${(Math.min(1, share) * 100).toFixed(2)}%` }}
      />
    </span>
  );
}
