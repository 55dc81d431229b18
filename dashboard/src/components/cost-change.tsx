/** A sum before and after a change of prices: both, and how much more or less. */
import { Money } from './amounts.tsx';
import { subtractUsd } from './subtract-usd.ts';

interface Costs {
  /** Decimal text; null when not known. */
  readonly old_cost: string | null;
  readonly new_cost: string | null;
}

interface ChangedCosts extends Costs {
  /** Calls in each sum whose cost is not fully known. */
  readonly old_unpriced: number;
  readonly new_unpriced: number;
}

export function CostChange({ of }: { readonly of: ChangedCosts }) {
  return (
    <span className="whitespace-nowrap">
      <Money value={of.old_cost} unpriced={of.old_unpriced} /> <span className="text-ink-faint">→</span>{' '}
      <Money value={of.new_cost} unpriced={of.new_unpriced} />
    </span>
  );
}

/** `+$0.12`; nothing is said of the direction by colour alone. */
export function CostDifference({ of }: { readonly of: Costs }) {
  const difference = subtractUsd(of.new_cost, of.old_cost);
  if (difference === null) return <Money value={null} />;
  if (difference === '0') return <span className="text-ink-faint">none</span>;
  return (
    <span className="whitespace-nowrap">
      {difference.startsWith('-') ? '' : '+'}
      <Money value={difference} />
    </span>
  );
}
