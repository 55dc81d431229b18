/**
 * The waterfall: a tree in a grid with virtual rows. One tab stop; arrows and letters move, open and close. What is open
 * and what is selected is the page's; which row has the focus is the grid's own.
 */
import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from 'react';
import { formatDuration } from '../../../../src/vocabulary/format-amounts.ts';
import type { OpenState } from './model/open-state.ts';
import { findIdentity, identify, isCallRow, type RunTable } from './model/run-table.ts';
import type { Matches } from './model/search-table.ts';
import { applyKey, type TreeView, toggleRow } from './model/tree-keys.ts';
import { findPosition, isRowOpen, listVisibleRows } from './model/visible-rows.ts';
import { findCostliestShare } from './row-bar.tsx';
import type { Axis, Colouring } from './run-search.ts';
import { ROW_TEMPLATES, type RowLayout, type RowLook, TreeRow } from './tree-row.tsx';

const ROW_HEIGHT_PX = 28;
const NARROW_ROW_HEIGHT_PX = 52;
const OVERSCAN_ROWS = 6;

export interface RunTreeHandle {
  /** Does what the key does, from the row that has the focus, and moves the focus there. */
  readonly press: (key: string) => void;
}

interface RunTreeProps {
  readonly trace: string;
  readonly table: RunTable;
  readonly state: OpenState;
  readonly onState: (state: OpenState) => void;
  readonly matches: Matches | null;
  readonly isOnlyMatches: boolean;
  readonly axis: Axis;
  readonly colouring: Colouring;
  readonly isSelfCost: boolean;
  readonly selected: string | undefined;
  readonly onSelect: (identity: string) => void;
  readonly onActive: (row: number) => void;
  readonly layout: RowLayout;
  readonly handle: Ref<RunTreeHandle>;
}

const HEADERS = { wide: ['Cost', 'Tokens in → out', 'Time'], short: ['Cost', 'Time'], narrow: ['Cost'] } as const;

export function RunTree(props: RunTreeProps) {
  const { table, state, onState, matches, isOnlyMatches, axis, selected, onSelect, onActive } = props;
  const { layout } = props;
  const rowHeight = layout === 'narrow' ? NARROW_ROW_HEIGHT_PX : ROW_HEIGHT_PX;
  const only = isOnlyMatches ? matches : null;
  const rows = useMemo(() => listVisibleRows(table, state, only), [table, state, only]);
  const [active, setActive] = useState<string>(() => selected ?? '/');
  const scroller = useRef<HTMLDivElement>(null);
  const hasFocus = useRef(false);
  const activeRow = useMemo(() => findIdentity(table, active) ?? 0, [table, active]);
  const activePosition = findPosition(table, rows, activeRow);
  const view = useMemo<TreeView>(
    () => ({ table, rows, state, matches, isOnlyMatches }),
    [table, rows, state, matches, isOnlyMatches],
  );

  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN_ROWS,
    scrollPaddingStart: 36,
    // The row of the tab stop stays in the page, or the keyboard could not come back to it.
    rangeExtractor: useCallback(
      (range: Range) => {
        const indexes = defaultRangeExtractor(range);
        return indexes.includes(activePosition) || activePosition >= range.count
          ? indexes
          : [...indexes, activePosition].sort((a, b) => a - b);
      },
      [activePosition],
    ),
  });

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new height needs a new measure
  useEffect(() => virtualizer.measure(), [rowHeight, virtualizer]);
  // The address may name another row (Back, a link): the tree follows.
  useEffect(() => {
    if (selected !== undefined) setActive(selected);
  }, [selected]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a row that moves because others open stays where it is
  useEffect(() => {
    if (activePosition > 0 || hasFocus.current) virtualizer.scrollToIndex(activePosition);
    if (hasFocus.current)
      scroller.current
        ?.querySelector<HTMLElement>(`[data-position="${activePosition}"]`)
        ?.focus({ preventScroll: true });
  }, [active, virtualizer]);
  const isSearching = matches !== null;
  useEffect(() => {
    if (isSearching) onActive(activeRow);
  }, [activeRow, isSearching, onActive]);

  const move = (row: number, next: OpenState) => {
    if (next !== state) onState(next);
    const identity = identify(table, row);
    setActive(identity);
    // With a panel open beside it, the panel follows.
    if (selected !== undefined && identity !== selected) onSelect(identity);
  };
  useImperativeHandle(props.handle, () => ({
    press: (key) => {
      const moved = applyKey(view, activeRow, key, false);
      if (moved !== null) move(moved.row, moved.state);
    },
  }));
  const toggle = useCallback((row: number) => onState(toggleRow(view, row)), [view, onState]);

  const onKeyDown = (event: KeyboardEvent, row: number) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
    if (event.key === 'Enter' || event.key === ' ') onSelect(identify(table, row));
    else {
      const moved = applyKey(view, row, event.key, event.shiftKey);
      if (moved === null) return;
      move(moved.row, moved.state);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const look = useMemo<RowLook>(
    () => ({
      trace: props.trace,
      axis,
      colouring: props.colouring,
      isSelfCost: props.isSelfCost,
      costliestShare: findCostliestShare(table),
      layout,
    }),
    [props.trace, axis, props.colouring, props.isSelfCost, table, layout],
  );
  const template = ROW_TEMPLATES[layout];

  return (
    <div ref={scroller} className="min-h-64 flex-1 overflow-auto border-t border-line bg-panel" data-scroller>
      <div
        role="treegrid"
        aria-label="Waterfall of the run"
        aria-rowcount={rows.length + 1}
        aria-colcount={HEADERS[layout].length + 2}
        className={layout === 'narrow' ? '' : 'min-w-[44rem]'}
      >
        <div role="rowgroup" className="sticky top-0 z-10 border-b border-line bg-raised">
          <div
            role="row"
            aria-rowindex={1}
            className="grid items-center gap-x-3 px-3 text-xs font-medium text-ink-soft"
            style={{ gridTemplateColumns: template, height: 28 }}
          >
            <div role="columnheader">Step or call</div>
            {HEADERS[layout].map((header) => (
              <div key={header} role="columnheader" className="text-right">
                {header === 'Cost' && props.isSelfCost ? 'Own cost' : header}
              </div>
            ))}
            {layout === 'narrow' ? (
              <div role="columnheader" className="sr-only">
                {axis === 'cost' ? 'Share of the cost' : 'When'}
              </div>
            ) : (
              <div role="columnheader">
                <span className="sr-only">{axis === 'cost' ? 'Share of the cost' : 'Time since the start'}</span>
                <TimeScale table={table} axis={axis} />
              </div>
            )}
          </div>
        </div>
        <div role="rowgroup" className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            const isCall = isCallRow(table, row);
            const isOpen = !isCall && isRowOpen(table, row, state, only);
            const isSelected = selected !== undefined && index === activePosition && active === selected;
            return (
              <div
                key={identify(table, row)}
                role="row"
                data-position={index}
                aria-rowindex={index + 2}
                aria-level={(table.depth[row] ?? 0) + 1}
                aria-setsize={table.setSize[row]}
                aria-posinset={table.positionInSet[row]}
                aria-expanded={isCall ? undefined : isOpen}
                aria-selected={isSelected}
                tabIndex={index === activePosition ? 0 : -1}
                className={`absolute inset-x-0 grid [contain:strict] content-center items-center gap-x-3 border-b border-line/40 px-3 hover:bg-raised focus-visible:outline-offset-[-2px] ${isSelected ? 'bg-accent-soft' : ''} ${layout === 'narrow' ? '' : '[grid-template-rows:100%]'}`}
                style={{ height: rowHeight, top: start, gridTemplateColumns: template }}
                onFocus={() => {
                  hasFocus.current = true;
                  setActive(identify(table, row));
                }}
                onBlur={() => {
                  hasFocus.current = false;
                }}
                onKeyDown={(event) => onKeyDown(event, row)}
                onClick={() => onSelect(identify(table, row))}
                onDoubleClick={() => {
                  if (!isCall) toggle(row);
                }}
              >
                <TreeRow
                  table={table}
                  row={row}
                  look={look}
                  isOpen={isOpen}
                  isMatch={matches?.isMatch[row] === 1}
                  onToggle={toggle}
                />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

const MARKS = [0, 0.25, 0.5, 0.75, 1] as const;

/** The pane beside the tree leaves little room: then the marks between go first. */
const HIDDEN_WHEN_NARROW: Readonly<Record<(typeof MARKS)[number], string>> = {
  0: '',
  0.25: '@max-[22rem]:hidden',
  0.5: '@max-[13rem]:hidden',
  0.75: '@max-[22rem]:hidden',
  1: '',
};

function labelOf(mark: number, table: RunTable, axis: Axis): string {
  if (axis === 'cost') return `${mark * 100}%`;
  return mark === 0 ? '0' : formatDuration(table.lengthMs * mark);
}

function TimeScale({ table, axis }: { readonly table: RunTable; readonly axis: Axis }) {
  return (
    <div className="@container" aria-hidden="true">
      <div className="num flex justify-between text-ink-faint">
        {MARKS.map((mark) => (
          <span key={mark} className={HIDDEN_WHEN_NARROW[mark]}>
            {labelOf(mark, table, axis)}
          </span>
        ))}
      </div>
    </div>
  );
}
