/** Every group with its figures, and the way to its calls and runs. On a narrow screen rows are cards. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Count, Money, Share, Tokens } from '../../components/amounts.tsx';
import { PatternSwatch } from '../../components/pattern-swatch.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import type { SeriesLook } from '../../components/series-look.ts';
import { Sparkline } from '../../components/sparkline.tsx';
import { useIsNarrow } from '../../components/use-is-narrow.ts';
import type { WindowSearch } from '../../search/time-window.ts';
import type { CostRow } from './cost-rows.ts';

interface CostTableProps {
  /** One for each field that is grouped by. */
  readonly labels: readonly string[];
  readonly rows: readonly CostRow[];
  /** Looks of the series that are drawn, by the row's key. */
  readonly looks: ReadonlyMap<string, SeriesLook>;
  readonly starts: readonly string[];
  /** What the links to Logs and Runs keep. */
  readonly window: WindowSearch;
  readonly filters: readonly string[];
}

function RowTokens({ row: { sums } }: { readonly row: CostRow }) {
  return (
    <Tokens
      input={sums.input_tokens}
      cacheRead={sums.cache_read_input_tokens}
      cacheCreation={sums.cache_creation_input_tokens}
      output={sums.output_tokens}
    />
  );
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
  if (row.filters === null) return null;
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
  const count = row.sums.unpriced_calls;
  if (count === 0 || row.filters === null) return <Count value={count} unit="calls" />;
  return (
    <Link
      to="/logs"
      search={{ ...window, f: [...filters, ...row.filters, 'total_cost:nohas'] }}
      className="text-warn underline underline-offset-4"
      aria-label={`${count} calls whose cost is not wholly known, of ${row.names.join(', ')}`}
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
    { header: 'Tokens', align: 'right', render: (row) => <RowTokens row={row} /> },
    { header: 'Not wholly known', align: 'right', render: (row) => <Unpriced {...links(row)} /> },
    {
      header: 'Average a call',
      align: 'right',
      render: ({ averageCost, sums }) => <Money value={averageCost} unpriced={sums.unpriced_calls} />,
    },
    { header: 'Over time', render: (row) => <Course row={row} starts={starts} /> },
    { header: 'Show', render: (row) => <RowLinks {...links(row)} /> },
  ];
}

function Card({ row, children }: { readonly row: CostRow; readonly children: ReactNode }) {
  return (
    <li className="flex flex-col gap-1 rounded-lg border border-line bg-panel p-3">
      <p className="flex items-start justify-between gap-3 font-medium">
        <span className="min-w-0 break-words">{row.names.join(' / ')}</span>
        <Money value={row.sums.total_cost} unpriced={row.sums.unpriced_calls} />
      </p>
      {children}
    </li>
  );
}

export function CostTable(props: CostTableProps) {
  const { rows, labels, window, filters } = props;
  if (!useIsNarrow())
    return (
      <PlainTable
        label={`Costs by ${labels.join(' and ')}`}
        columns={listColumns(props)}
        rows={rows}
        rowKey={({ key }) => key}
      />
    );
  return (
    <ul aria-label={`Costs by ${labels.join(' and ')}`} className="flex flex-col gap-2">
      {rows.map((row) => (
        <Card key={row.key} row={row}>
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
            <RowTokens row={row} />
            <RowLinks row={row} window={window} filters={filters} />
          </p>
        </Card>
      ))}
    </ul>
  );
}
