/** What one call cost, and in a word why that is not known: the same on every page. */
import { Money } from './amounts.tsx';

interface CallCostProps {
  readonly total: string | null;
  /** Null or zero: nothing is known of it. */
  readonly known: string | null;
  /** As in the record; null while the call is open. */
  readonly status: string | null;
}

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
