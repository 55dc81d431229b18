/** What a change of prices would do to recent calls, before it is saved. */
import { Link } from '@tanstack/react-router';
import type { Preview, PreviewExample, PreviewModel } from '../../api/prices.ts';
import { Count } from '../../components/amounts.tsx';
import { CostChange, CostDifference } from '../../components/cost-change.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { WarningList } from '../../components/warning-list.tsx';

const MODEL_COLUMNS: readonly PlainColumn<PreviewModel>[] = [
  {
    header: 'Model',
    render: ({ provider, model }) => (
      <span className="inline-block min-w-32 [overflow-wrap:anywhere]">
        <span className="text-ink-faint">{provider}</span> {model ?? '(no model)'}
      </span>
    ),
  },
  {
    header: 'Calls that change',
    align: 'right',
    render: ({ changed, calls }) => (
      <span className="whitespace-nowrap">
        <Count value={changed} unit="calls" /> of <Count value={calls} unit="calls" />
      </span>
    ),
  },
  {
    header: 'Cost',
    align: 'right',
    render: (row) => <CostChange of={row} />,
  },
];

/** With another status only a part of the cost is known, or none. */
function countUnpriced(status: string): number {
  return status === 'exact' || status === 'not_billed' ? 0 : 1;
}

const EXAMPLE_COLUMNS: readonly PlainColumn<PreviewExample>[] = [
  {
    header: 'Call',
    render: ({ id, requested_at }) => (
      <Link to="/log/$id" params={{ id }} search={{ tab: 'cost' }} className="underline-offset-4 hover:underline">
        <Timestamp at={requested_at} />
      </Link>
    ),
  },
  {
    header: 'Model',
    render: ({ model }) => <span className="inline-block min-w-32 [overflow-wrap:anywhere]">{model ?? '—'}</span>,
  },
  {
    header: 'Cost',
    align: 'right',
    render: ({ old_cost, new_cost, old_status, new_status }) => (
      <CostChange
        of={{ old_cost, new_cost, old_unpriced: countUnpriced(old_status), new_unpriced: countUnpriced(new_status) }}
      />
    ),
  },
  {
    header: 'Status',
    render: ({ old_status, new_status }) => (old_status === new_status ? new_status : `${old_status} → ${new_status}`),
  },
];

export function PreviewResult({ preview }: { readonly preview: Preview }) {
  const { calls, changed, old_unpriced, new_unpriced, models, examples, warnings } = preview;
  return (
    <section aria-label="Preview" className="flex flex-col gap-2 rounded-lg border border-line bg-raised p-3">
      <p role="status">
        <strong className="font-semibold">
          {calls === 0
            ? 'No calls from the last 30 days are affected.'
            : `${changed.toLocaleString('en-US')} of the latest ${calls.toLocaleString('en-US')} affected calls would cost something else.`}
        </strong>{' '}
        {calls > 0 && (
          <>
            <CostChange of={preview} /> (difference <CostDifference of={preview} />)
          </>
        )}
      </p>
      {(old_unpriced > 0 || new_unpriced > 0) && (
        <p className="text-ink-soft">
          Without a price: <Count value={old_unpriced} unit="calls" /> before,{' '}
          <Count value={new_unpriced} unit="calls" /> after.
        </p>
      )}
      <WarningList warnings={warnings} />
      {models.length > 0 && (
        <PlainTable
          label="Difference by model"
          columns={MODEL_COLUMNS}
          rows={models}
          rowKey={({ provider, model }) => `${provider} ${model ?? ''}`}
        />
      )}
      {examples.length > 0 && (
        <details>
          <summary className="text-ink-soft">Examples</summary>
          <div className="mt-2">
            <PlainTable label="Examples" columns={EXAMPLE_COLUMNS} rows={examples} rowKey={({ id }) => id} />
          </div>
        </details>
      )}
      <p className="text-xs text-ink-faint">
        This is what the same calls would cost. Costs in the records stay as they are until they are priced again.
      </p>
    </section>
  );
}
