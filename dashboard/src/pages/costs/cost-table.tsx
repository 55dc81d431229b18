/** The sums of the window, then every group with its figures and the way to its calls and runs. On a narrow screen rows are cards. */

import { Link } from '@tanstack/react-router';
import type { CostSums } from '../../api/costs.ts';
import { useAllowed } from '../../app/session-context.tsx';
import { Count, Money, Share, Tokens } from '../../components/amounts.tsx';
import { PatternSwatch } from '../../components/pattern-swatch.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import type { SeriesLook } from '../../components/series-look.ts';
import { Sparkline } from '../../components/sparkline.tsx';
import { type SummaryFigure, SummaryStrip } from '../../components/summary-strip.tsx';
import type { WindowSearch } from '../../search/time-window.ts';
import type { CostRow } from './cost-rows.ts';

interface CostTableProps {
  readonly labels: readonly string[];
  readonly rows: readonly CostRow[];
  readonly looks: ReadonlyMap<string, SeriesLook>;
  readonly starts: readonly string[];
  readonly window: WindowSearch;
  readonly filters: readonly string[];
}

function ShareBar({ share }: { readonly share: number | null }) {
  return (
    <span className="inline-flex items-center justify-end gap-2">
      <Share value={share} />
      <span aria-hidden="true" className="inline-block h-2 w-12 overflow-hidden rounded-sm bg-raised">
        <span className="block h-full bg-bar" style={{ width: `${(share ?? 0) * 100}%` }} />
      </span>
    </span>
  );
}

function Course({ row, starts }: { readonly row: CostRow; readonly starts: readonly string[] }) {
  const byStart = new Map(row.buckets.map(({ start, total_cost }) => [Date.parse(start), Number(total_cost)]));
  return (
    <Sparkline
      values={starts.map((start) => byStart.get(Date.parse(start)) ?? 0)}
      label={`Cost of ${row.names.join(', ')} over time`}
    />
  );
}

type LinkProps = Pick<CostTableProps, 'window' | 'filters'> & { readonly row: CostRow };

function RowLinks({ row, window, filters }: LinkProps) {
  const mayLookUp = useAllowed('viewer');
  if (row.filters === null || !mayLookUp) return null;
  const search = { ...window, f: [...filters, ...row.filters] };
  const name = row.names.join(', ');
  const look = 'text-accent underline-offset-4 hover:underline';
  return (
    <span className="inline-flex gap-3">
      <Link to="/logs" search={search} className={look} aria-label={`Logs of ${name}`}>
        Logs
      </Link>
      <Link to="/runs" search={search} className={look} aria-label={`Runs of ${name}`}>
        Runs
      </Link>
    </span>
  );
}

function Unpriced({ row, window, filters }: LinkProps) {
  const mayLookUp = useAllowed('viewer');
  const count = row.sums.unpriced_calls;
  if (count === 0 || row.filters === null || !mayLookUp) return <Count value={count} unit="calls" />;
  return (
    <Link
      to="/logs"
      search={{ ...window, f: [...filters, ...row.filters, 'total_cost:nohas'] }}
      className="text-warn underline underline-offset-4"
      aria-label={`${count} calls whose cost is not fully known, of ${row.names.join(', ')}`}
    >
      <Count value={count} unit="calls" />
    </Link>
  );
}

function listColumns(props: CostTableProps): readonly PlainColumn<CostRow>[] {
  const { labels, looks, starts, window, filters } = props;
  const links = (row: CostRow) => ({ row, window, filters });
  return [
    ...labels.map(
      (header, index): PlainColumn<CostRow> => ({
        header,
        render: (row) => {
          const look = index === 0 ? looks.get(row.key) : undefined;
          const name = row.names[index] ?? '';
          return (
            <span className="flex max-w-52 items-center gap-2">
              {look !== undefined && <PatternSwatch look={look} />}
              <span className="truncate" title={name}>
                {name}
              </span>
            </span>
          );
        },
      }),
    ),
    {
      header: 'Cost',
      align: 'right',
      render: ({ sums }) => <Money value={sums.total_cost} unpriced={sums.unpriced_calls} />,
    },
    { header: 'Share', align: 'right', render: ({ share }) => <ShareBar share={share} /> },
    { header: 'Calls', align: 'right', render: ({ sums }) => <Count value={sums.calls} unit="calls" /> },
    { header: 'Tokens', align: 'right', render: ({ sums }) => <Tokens of={sums} /> },
    { header: 'Not fully known', align: 'right', render: (row) => <Unpriced {...links(row)} /> },
    {
      header: 'Average a call',
      align: 'right',
      render: ({ averageCost, sums }) => <Money value={averageCost} unpriced={sums.unpriced_calls} />,
    },
    { header: 'Over time', render: (row) => <Course row={row} starts={starts} /> },
    { header: 'Show', render: (row) => <RowLinks {...links(row)} /> },
  ];
}

export function CostTable(props: CostTableProps) {
  const { rows, labels, window, filters } = props;
  return (
    <PlainTable
      label={`Costs by ${labels.join(' and ')}`}
      columns={listColumns(props)}
      rows={rows}
      rowKey={({ key }) => key}
      renderCard={(row) => (
        <>
          <p className="flex items-start justify-between gap-3 font-medium">
            <span className="min-w-0 break-words">{row.names.join(' / ')}</span>
            <Money value={row.sums.total_cost} unpriced={row.sums.unpriced_calls} />
          </p>
          <p className="flex flex-wrap justify-between gap-x-3 text-ink-soft">
            <ShareBar share={row.share} />
            <span>
              <Count value={row.sums.calls} unit="calls" /> calls
            </span>
            <span>
              <Money value={row.averageCost} unpriced={row.sums.unpriced_calls} /> each
            </span>
          </p>
          <p className="flex flex-wrap justify-between gap-x-3 text-ink-soft">
            <Tokens of={row.sums} />
            <RowLinks row={row} window={window} filters={filters} />
          </p>
        </>
      )}
    />
  );
}

interface CostTotalsProps {
  readonly totals: CostSums;
  readonly window: WindowSearch;
  readonly filters: readonly string[];
}

export function CostTotals({ totals, window, filters }: CostTotalsProps) {
  const mayLookUp = useAllowed('viewer');
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
      name: 'Not fully known',
      value:
        unpriced === 0 || !mayLookUp ? (
          <Count value={unpriced} unit="calls" />
        ) : (
          <Link
            to="/logs"
            search={{ ...window, f: [...filters, 'total_cost:nohas'] }}
            className="text-warn underline underline-offset-4"
            aria-label={`${unpriced} calls whose cost is not fully known`}
          >
            <Count value={unpriced} unit="calls" />
          </Link>
        ),
    },
  ];
  return <SummaryStrip label="Sums" figures={figures} />;
}
