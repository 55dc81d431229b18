/** The drawing in figures: a row for each stretch of time, a column for each series. */
import type { Costs } from '../../api/costs.ts';
import { PlainTable } from '../../components/plain-table.tsx';
import type { TimeWindow } from '../../search/time-window.ts';
import { bucketWindow, fullLabel } from './bucket-label.ts';
import { SumOf } from './cost-legend.tsx';
import { addUp, type BucketSums, type CostSeries } from './cost-series.ts';
import type { Metric } from './costs-search.ts';

interface CostChartTableProps {
  readonly costs: Costs;
  readonly series: readonly CostSeries[];
  readonly metric: Metric;
  readonly onZoom: (window: TimeWindow) => void;
}

interface Row {
  readonly index: number;
  readonly start: string;
}

export function CostChartTable({ costs, series, metric, onZoom }: CostChartTableProps) {
  const rows = costs.bucket_starts.map((start, index): Row => ({ index, start }));
  const cell = (sums: BucketSums | undefined) => sums !== undefined && <SumOf sums={sums} metric={metric} />;
  return (
    <div className="max-h-96 overflow-y-auto">
      <PlainTable
        label={`${metric === 'cost' ? 'Cost' : 'Calls'} over time`}
        rows={rows}
        rowKey={({ start }) => start}
        columns={[
          {
            header: 'Time',
            render: ({ index, start }) => (
              <button
                type="button"
                title="Show only this part"
                className="whitespace-nowrap underline-offset-4 hover:underline"
                onClick={() => onZoom(bucketWindow(costs, index, index))}
              >
                {fullLabel(start, costs.interval, costs.tz)}
              </button>
            ),
          },
          {
            header: 'All',
            align: 'right',
            render: ({ index }) => cell(addUp(series.flatMap(({ buckets }) => buckets[index] ?? []))),
          },
          ...series.map(({ key, name, buckets }) => ({
            id: key,
            header: name,
            align: 'right' as const,
            render: ({ index }: Row) => cell(buckets[index]),
          })),
        ]}
      />
    </div>
  );
}
