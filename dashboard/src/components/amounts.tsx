/** Money, tokens, durations and sizes on the page: short for the eye, exact on hover and for screen readers' asking. */
import { formatBytes, formatCount, formatDuration, formatSum } from '../../../src/format-amounts.ts';
import { parseUsd } from '../../../src/usd.ts';

/** Made once: `toLocaleString` makes a new one for each number, which a long list of numbers feels. */
const EXACT = new Intl.NumberFormat('en-US');

interface MoneyProps {
  /** Decimal text of the API; null when it is not known. */
  readonly value: string | null;
  /** Calls in the sum whose cost is not wholly known: with any, the sum is "at least". */
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
    ? `At least $${value}: the cost of ${unpriced} ${unpriced === 1 ? 'call' : 'calls'} is not wholly known`
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

/** A count, of tokens or anything else. */
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

interface TokensProps {
  /** Uncached input. */
  readonly input: number | null;
  readonly cacheRead?: number | null;
  readonly cacheCreation?: number | null;
  readonly output: number | null;
}

function sumKnown(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>((sum, value) => (value === null ? sum : (sum ?? 0) + value), null);
}

/** `12.4k → 310`, all input together; on hover each class. */
export function Tokens({ input, cacheRead = null, cacheCreation = null, output }: TokensProps) {
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
