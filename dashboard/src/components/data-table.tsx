/**
 * A long list as a grid: virtual rows, sortable headers, one tab stop, arrows inside. Order, filters and paging are the
 * server's: it shows the rows it is given and says when the end comes near. On a narrow screen rows become cards.
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useIsNarrow } from './use-is-narrow.ts';

export interface TableColumn<Row> {
  readonly id: string;
  readonly header: string;
  /** A CSS grid track, e.g. `7rem` or `minmax(10rem, 1fr)`. */
  readonly width: string;
  readonly align?: 'right';
  /** The API's name of the order; without it the column cannot be sorted by. */
  readonly sort?: string | undefined;
  readonly render: (row: Row) => ReactNode;
}

/** A column of figures. */
export function figureColumn<Row>(
  id: string,
  header: string,
  width: string,
  render: (row: Row) => ReactNode,
  sort?: string,
): TableColumn<Row> {
  return { id, header, width, align: 'right', sort, render };
}

interface DataTableProps<Row> {
  readonly label: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly selectedKey?: string | undefined;
  /** Enter or a click. */
  readonly onSelect?: (row: Row) => void;
  /** `o` or a double click: the row's own page. */
  readonly onOpen?: (row: Row) => void;
  /** Any other key on a row; true when it was used. */
  readonly onRowKey?: (event: KeyboardEvent, row: Row) => boolean;
  /** `field` or `-field`. */
  readonly sort?: string | undefined;
  readonly onSort?: (sort: string) => void;
  readonly onEndReached?: () => void;
  readonly footer?: ReactNode;
  readonly renderCard: (row: Row) => ReactNode;
  readonly rowHeightPx?: number;
}

const CARD_HEIGHT_PX = 84;
const OVERSCAN_ROWS = 12;
/** So many rows before the end the next page is asked for. */
const END_ROWS = 20;
const PAGE_ROWS = 15;

function nextSort(column: string, sort: string | undefined): string {
  return sort === `-${column}` ? column : `-${column}`;
}

function ariaSort(
  column: string | undefined,
  sort: string | undefined,
): 'ascending' | 'descending' | 'none' | undefined {
  if (column === undefined) return undefined;
  if (sort === column) return 'ascending';
  return sort === `-${column}` ? 'descending' : 'none';
}

interface HeaderProps<Row> {
  readonly columns: readonly TableColumn<Row>[];
  readonly template: string;
  readonly sort: string | undefined;
  readonly onSort: ((sort: string) => void) | undefined;
}

function TableHeader<Row>({ columns, template, sort, onSort }: HeaderProps<Row>) {
  return (
    <div role="rowgroup" className="sticky top-0 z-10 min-w-fit border-b border-line bg-raised">
      <div
        role="row"
        aria-rowindex={1}
        className="grid items-stretch gap-x-3 px-4"
        style={{ gridTemplateColumns: template }}
      >
        {columns.map(({ id, header, align, sort: field }) => (
          <div
            key={id}
            role="columnheader"
            aria-sort={ariaSort(field, sort)}
            className={`flex h-8 items-center text-xs font-medium text-ink-soft ${align === 'right' ? 'justify-end' : ''}`}
          >
            {field === undefined || onSort === undefined ? (
              <span className="truncate">{header}</span>
            ) : (
              <button
                type="button"
                className="inline-flex h-full items-center gap-1 rounded hover:text-ink"
                onClick={() => onSort(nextSort(field, sort))}
              >
                {header}
                {sort === field && <ArrowUp size={12} aria-hidden />}
                {sort === `-${field}` && <ArrowDown size={12} aria-hidden />}
              </button>
            )}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Where a key moves the active row; null when it does not. */
function moveBy(key: string, active: number, count: number): number | null {
  switch (key) {
    case 'ArrowDown':
    case 'j':
      return Math.min(active + 1, count - 1);
    case 'ArrowUp':
    case 'k':
      return Math.max(active - 1, 0);
    case 'PageDown':
      return Math.min(active + PAGE_ROWS, count - 1);
    case 'PageUp':
      return Math.max(active - PAGE_ROWS, 0);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowKey, selectedKey, onSelect, onOpen, onRowKey, sort, onSort, onEndReached } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = useIsNarrow();
  const rowHeight = isNarrow ? CARD_HEIGHT_PX : (props.rowHeightPx ?? 36);
  const [active, setActive] = useState(0);
  /** True while the focus is on a row: then it follows the active row, otherwise it stays where it is. */
  const hasFocus = useRef(false);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN_ROWS,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : rowKey(row);
    },
  });
  const items = virtualizer.getVirtualItems();
  const lastIndex = items.at(-1)?.index ?? 0;
  const template = columns.map(({ width }) => width).join(' ');
  const activeIndex = Math.min(active, Math.max(0, rows.length - 1));

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new height needs a new measure
  useEffect(() => virtualizer.measure(), [rowHeight, virtualizer]);
  useEffect(() => {
    if (rows.length > 0 && lastIndex >= rows.length - END_ROWS) onEndReached?.();
  }, [lastIndex, rows.length, onEndReached]);
  useEffect(() => {
    if (!hasFocus.current) return;
    virtualizer.scrollToIndex(activeIndex);
    scroller.current?.querySelector<HTMLElement>(`[data-index="${activeIndex}"]`)?.focus({ preventScroll: true });
  }, [activeIndex, virtualizer]);

  const onKeyDown = (event: KeyboardEvent, index: number) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[index];
    if (row === undefined || event.target !== event.currentTarget) return;
    const target = event.shiftKey ? null : moveBy(event.key, index, rows.length);
    if (target !== null) {
      setActive(target);
      const moved = rows[target];
      // With a panel open beside it, the panel follows.
      if (selectedKey !== undefined && moved !== undefined) onSelect?.(moved);
    } else if (event.key === 'Enter' || event.key === ' ') onSelect?.(row);
    else if (event.key === 'o') onOpen?.(row);
    else if (onRowKey?.(event, row) !== true) return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div ref={scroller} className="min-h-64 flex-1 overflow-auto border-t border-line bg-panel" data-scroller>
      <div
        role="grid"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length}
        className="min-w-fit"
      >
        {isNarrow ? (
          <div role="row" aria-rowindex={1} className="sr-only">
            <div role="columnheader">{label}</div>
          </div>
        ) : (
          <TableHeader columns={columns} template={template} sort={sort} onSort={onSort} />
        )}
        <div role="rowgroup" className="relative min-w-full" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, key, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            const isSelected = rowKey(row) === selectedKey;
            return (
              <div
                key={key}
                role="row"
                data-index={index}
                aria-rowindex={index + 2}
                aria-selected={isSelected}
                tabIndex={index === activeIndex ? 0 : -1}
                className={`absolute inset-x-0 border-b border-line/60 px-4 hover:bg-raised ${isSelected ? 'bg-accent-soft' : ''} ${isNarrow ? 'py-2' : 'grid items-center gap-x-3'}`}
                style={{
                  height: rowHeight,
                  // Not a transform: thousands of rows come and go, and each transform is work for the compositor.
                  top: start,
                  ...(isNarrow ? {} : { gridTemplateColumns: template }),
                }}
                onFocus={() => {
                  hasFocus.current = true;
                  setActive(index);
                }}
                onBlur={() => {
                  hasFocus.current = false;
                }}
                onKeyDown={(event) => onKeyDown(event, index)}
                onClick={() => onSelect?.(row)}
                onDoubleClick={() => onOpen?.(row)}
              >
                {isNarrow ? (
                  <div role="gridcell" className="overflow-hidden">
                    {props.renderCard(row)}
                  </div>
                ) : (
                  columns.map(({ id, align, render }) => (
                    <div
                      key={id}
                      role="gridcell"
                      className={`min-w-0 truncate ${align === 'right' ? 'text-right' : ''}`}
                    >
                      {render(row)}
                    </div>
                  ))
                )}
              </div>
            );
          })}
        </div>
      </div>
      {props.footer !== undefined && (
        <div className="sticky left-0 px-4 py-3 text-center text-ink-soft">{props.footer}</div>
      )}
    </div>
  );
}
