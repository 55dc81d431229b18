/** The sums of the whole window, all groups together. */
import { Link } from '@tanstack/react-router';
import type { CostSums } from '../../api/costs.ts';
import { Count, Money } from '../../components/amounts.tsx';
import { type SummaryFigure, SummaryStrip } from '../../components/summary-strip.tsx';
import type { WindowSearch } from '../../search/time-window.ts';

interface CostTotalsProps {
  readonly totals: CostSums;
  readonly window: WindowSearch;
  readonly filters: readonly string[];
}

export function CostTotals({ totals, window, filters }: CostTotalsProps) {
  const unpriced = totals.unpriced_calls;
  const figures: readonly SummaryFigure[] = [
    { name: 'Cost', value: <Money value={totals.total_cost} unpriced={unpriced} /> },
    { name: 'Calls', value: <Count value={totals.calls} unit="calls" /> },
    { name: 'Uncached input', value: <Count value={totals.input_tokens} unit="tokens" /> },
    { name: 'Read from cache', value: <Count value={totals.cache_read_input_tokens} unit="tokens" /> },
    { name: 'Written to cache', value: <Count value={totals.cache_creation_input_tokens} unit="tokens" /> },
    {
      name: 'Output',
      value: <Count value={totals.output_tokens} unit="tokens" />,
      detail: totals.reasoning_tokens > 0 && (
        <>
          <Count value={totals.reasoning_tokens} unit="tokens" /> reasoning
        </>
      ),
    },
    {
      name: 'Not wholly known',
      value:
        unpriced === 0 ? (
          <Count value={0} unit="calls" />
        ) : (
          <Link
            to="/logs"
            search={{ ...window, f: [...filters, 'total_cost:nohas'] }}
            className="text-warn underline underline-offset-4"
            aria-label={`${unpriced} calls whose cost is not wholly known`}
          >
            <Count value={unpriced} unit="calls" />
          </Link>
        ),
    },
  ];
  return <SummaryStrip label="Sums" figures={figures} />;
}
