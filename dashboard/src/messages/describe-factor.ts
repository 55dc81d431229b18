/** A factor on a price in words: `15 % off`, `10 % more`, `free`. Exact, like the factor. */
import { formatUsd, parseUsd } from '../../../src/usd.ts';

const ONE = parseUsd('1');

/** Empty for a factor of one, and for what is none. */
export function describeFactor(factor: string): string {
  if (!/^\d{1,6}(?:\.\d{1,10})?$/.test(factor)) return '';
  const value = parseUsd(factor);
  if (value === 0n) return 'free';
  if (value === ONE) return '';
  if (value < ONE) return `${formatUsd((ONE - value) * 100n)} % off`;
  return value <= ONE * 2n ? `${formatUsd((value - ONE) * 100n)} % more` : `${factor} times as much`;
}
