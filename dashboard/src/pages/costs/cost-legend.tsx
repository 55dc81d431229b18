/** Beside the drawing: what each colour is and its amount, of the whole window or of the bar that is pointed at. */
import { formatUsd } from '../../../../src/vocabulary/usd.ts';
import { Count, Money } from '../../components/amounts.tsx';
import { PatternSwatch } from '../../components/pattern-swatch.tsx';
import type { BucketSums, CostSeries } from './cost-series.ts';
import type { Metric } from './costs-search.ts';

export function SumOf({ sums, metric }: { readonly sums: BucketSums; readonly metric: Metric }) {
  return metric === 'calls' ? (
    <Count value={sums.calls} unit="calls" />
  ) : (
    <Money value={formatUsd(sums.cost)} unpriced={sums.unpricedCalls} />
  );
}

interface CostLegendProps {
  /** The bar in words; null for the whole window. */
  readonly label: string | null;
  readonly series: readonly CostSeries[];
  readonly sums: BucketSums;
  readonly bucket: number | null;
  readonly metric: Metric;
  readonly only: string | undefined;
  readonly onOnly: (key: string) => void;
}

export function CostLegend({ label, series, sums, bucket, metric, only, onOnly }: CostLegendProps) {
  return (
    <section aria-label="Series" className="w-72 shrink-0 text-sm max-lg:w-full">
      <p className="flex justify-between gap-3 border-b border-line pb-1 font-medium">
        <span className="truncate">{label ?? 'Entire time range'}</span>
        <SumOf sums={sums} metric={metric} />
      </p>
      <ul className="pt-1">
        {series.map(({ key, name, look, buckets, total }) => (
          <li key={key}>
            <button
              type="button"
              aria-pressed={key === only}
              title={key === only ? 'Show all again' : `Show only ${name}`}
              className={`flex w-full items-center gap-2 rounded px-1.5 py-0.5 text-left hover:bg-raised aria-pressed:bg-accent-soft aria-pressed:text-accent ${only !== undefined && key !== only ? 'text-ink-faint' : ''}`}
              onClick={() => onOnly(key)}
            >
              <PatternSwatch look={look} />
              <span className="min-w-0 flex-1 truncate">{name}</span>
              <SumOf sums={bucket === null ? total : (buckets[bucket] ?? total)} metric={metric} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
