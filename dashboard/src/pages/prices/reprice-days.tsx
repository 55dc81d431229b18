/** What a re-pricing found, or would change: the totals, then each day and model. */
import { useQuery } from '@tanstack/react-query';
import type { CostDifference as Sums } from '../../api/prices.ts';
import { type RepriceDay, repriceDaysQuery } from '../../api/reprice.ts';
import { Count } from '../../components/amounts.tsx';
import { CostChange, CostDifference } from '../../components/cost-change.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { Pending } from '../../components/states.tsx';
import { SummaryStrip } from '../../components/summary-strip.tsx';

const COLUMNS: readonly PlainColumn<RepriceDay>[] = [
  { header: 'Day (UTC)', render: ({ day }) => <span className="num">{day}</span> },
  {
    header: 'Model',
    render: ({ provider, model }) => (
      <span className="inline-block max-w-80 min-w-28 [overflow-wrap:anywhere]">
        <span className="text-ink-faint">{provider}</span> {model === '' ? '(no model)' : model}
      </span>
    ),
  },
  { header: 'Calls', align: 'right', render: ({ calls }) => <Count value={calls} unit="calls" /> },
  { header: 'That change', align: 'right', render: ({ changed }) => <Count value={changed} unit="calls" /> },
  { header: 'Cost', align: 'right', render: (row) => <CostChange of={row} /> },
  { header: 'Difference', align: 'right', render: (row) => <CostDifference of={row} /> },
];

const UNPRICED_COLUMN: PlainColumn<RepriceDay> = {
  header: 'Without a price',
  align: 'right',
  render: (day) => <UnpricedChange of={day} />,
};

function hasUnpriced({ old_unpriced, new_unpriced }: RepriceDay): boolean {
  return old_unpriced > 0 || new_unpriced > 0;
}

function UnpricedChange({ of: { old_unpriced, new_unpriced } }: { readonly of: Sums }) {
  return (
    <span className="whitespace-nowrap">
      <Count value={old_unpriced} unit="calls" /> <span className="text-ink-faint">→</span>{' '}
      <Count value={new_unpriced} unit="calls" />
    </span>
  );
}

function Totals({ totals }: { readonly totals: Sums }) {
  return (
    <div className="-mx-4">
      <SummaryStrip
        label="In all"
        figures={[
          { name: 'Calls looked at', value: <Count value={totals.calls} unit="calls" /> },
          { name: 'Calls that change', value: <Count value={totals.changed} unit="calls" /> },
          { name: 'Cost', value: <CostChange of={totals} /> },
          { name: 'Difference', value: <CostDifference of={totals} /> },
          { name: 'Without a price', value: <UnpricedChange of={totals} /> },
        ]}
      />
    </div>
  );
}

export function RepriceDaysView({ jobId, isUnderWay }: { readonly jobId: number; readonly isUnderWay: boolean }) {
  const { data, error, refetch } = useQuery(repriceDaysQuery(jobId, isUnderWay));
  if (data === undefined) return <Pending query={{ error, refetch }} what="the difference" rows={3} />;
  const changed = data.data.filter((day) => day.changed > 0);
  return (
    <div className="flex flex-col">
      <Totals totals={data.totals} />
      {changed.length > 0 && (
        <PlainTable
          label="Difference by day and model"
          columns={changed.some(hasUnpriced) ? [...COLUMNS, UNPRICED_COLUMN] : COLUMNS}
          rows={changed}
          rowKey={({ day, provider, model }) => JSON.stringify([day, provider, model])}
        />
      )}
      {changed.length < data.data.length && (
        <p className="mt-2 text-xs text-ink-faint">
          {changed.length === 0
            ? 'No call costs anything else.'
            : `Days and models on which nothing changes (${data.data.length - changed.length}) are left out.`}
        </p>
      )}
      {data.next_cursor !== null && (
        <p className="mt-2 text-xs text-ink-faint">
          The table shows the first {data.data.length} days and models; the totals are of all. The rest:{' '}
          <code className="font-mono">tollgate reprice --help</code>.
        </p>
      )}
    </div>
  );
}
