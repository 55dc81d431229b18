/** A sum before and after a change of prices: both, and how much more or less. */
import { Money } from './amounts.tsx';
import { subtractUsd } from './subtract-usd.ts';

interface CostChangeProps {
  /** Decimal text; null when not known. */
  readonly before: string | null;
  readonly after: string | null;
  /** Calls in each sum whose cost is not wholly known. */
  readonly unpricedBefore?: number;
  readonly unpricedAfter?: number;
}

export function CostChange({ before, after, unpricedBefore = 0, unpricedAfter = 0 }: CostChangeProps) {
  return (
    <span className="whitespace-nowrap">
      <Money value={before} unpriced={unpricedBefore} /> <span className="text-ink-faint">→</span>{' '}
      <Money value={after} unpriced={unpricedAfter} />
    </span>
  );
}

/** `+$0.12`; nothing is said of the direction by colour alone. */
export function CostDifference({ before, after }: Pick<CostChangeProps, 'before' | 'after'>) {
  const difference = subtractUsd(after, before);
  if (difference === null) return <Money value={null} />;
  if (difference === '0') return <span className="text-ink-faint">none</span>;
  return (
    <span className="whitespace-nowrap">
      {difference.startsWith('-') ? '' : '+'}
      <Money value={difference} />
    </span>
  );
}
