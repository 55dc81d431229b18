/** A short table, all of it in the page: keys, processes, jobs. Long lists are `data-table.tsx`. */
import type { ReactNode } from 'react';
import { useIsNarrow } from './use-is-narrow.ts';

export interface PlainColumn<Row> {
  readonly header: string;
  readonly id?: string;
  readonly align?: 'right';
  readonly render: (row: Row) => ReactNode;
}

interface PlainTableProps<Row> {
  readonly label: string;
  readonly columns: readonly PlainColumn<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** A narrow screen shows rows as cards: these, or each value behind the name of its column. */
  readonly renderCard?: (row: Row) => ReactNode;
}

function Pairs<Row>({ columns, row }: { readonly columns: readonly PlainColumn<Row>[]; readonly row: Row }) {
  return (
    <dl className="grid grid-cols-[minmax(4.5rem,auto)_minmax(0,1fr)] items-baseline gap-x-3 gap-y-1.5">
      {columns.map(({ id, header, render }) => (
        <div key={id ?? header} className="contents">
          <dt className="text-xs text-ink-soft">{header}</dt>
          <dd className="min-w-0 [overflow-wrap:anywhere]">{render(row)}</dd>
        </div>
      ))}
    </dl>
  );
}

export function PlainTable<Row>({ label, columns, rows, rowKey, renderCard }: PlainTableProps<Row>) {
  const isNarrow = useIsNarrow();
  if (isNarrow)
    return (
      <ul aria-label={label} className="flex flex-col gap-2">
        {rows.map((row) => (
          <li key={rowKey(row)} className="flex flex-col gap-2 rounded-lg border border-line bg-panel p-3">
            {renderCard?.(row) ?? <Pairs columns={columns} row={row} />}
          </li>
        ))}
      </ul>
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section aria-label={label} tabIndex={0} className="overflow-x-auto rounded-lg border border-line bg-panel">
      <table className="w-full border-collapse text-left">
        <thead>
          <tr className="border-b border-line bg-raised text-xs text-ink-soft">
            {columns.map(({ id, header, align }) => (
              <th
                key={id ?? header}
                scope="col"
                className={`px-3 py-2 font-medium whitespace-nowrap ${align === 'right' ? 'text-right' : ''}`}
              >
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} className="border-b border-line/60 last:border-0">
              {columns.map(({ id, header, align, render }) => (
                <td key={id ?? header} className={`px-3 py-2 align-middle ${align === 'right' ? 'text-right' : ''}`}>
                  {render(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
