/**
 * The calls as a table. Besides the table's own keys: ← → choose a cell of the row, `i` and Shift `i` filter by it or
 * without it, `.` opens its menu.
 */
import { useNavigate } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useCallback, useMemo, useState } from 'react';
import type { ListedLog } from '../../api/logs.ts';
import { DataTable, type TableColumn } from '../../components/data-table.tsx';
import { usePreferences } from '../../preferences.tsx';
import { filterByValue } from '../../search/filter-text.ts';
import { CellMenu, type MenuTarget } from './cell-menu.tsx';
import { readCellValue, readColumnFacts } from './column-list.ts';
import { type CellContext, LogCard, renderCell } from './log-cell.tsx';

interface LogsTableProps {
  readonly rows: readonly ListedLog[];
  readonly columns: readonly string[];
  readonly context: CellContext;
  readonly sort: string;
  readonly peek: string | undefined;
  /** What a search looks for. */
  readonly sought: string | undefined;
  readonly footer: ReactNode;
  readonly onSort: (sort: string) => void;
  readonly onPeek: (id: string) => void;
  readonly onFilter: (filter: string) => void;
  readonly onFilters: (filters: readonly string[]) => void;
  readonly onEndReached: () => void;
}

/** The chosen cell shows only in the row that has the focus. */
const CHOSEN_CELL =
  '[[role=row]:focus_&]:outline-2 [[role=row]:focus_&]:outline-accent [[role=row]:focus_&]:rounded-sm';

const DATED_WIDTH = '10rem';

interface CellProps {
  readonly column: string;
  readonly isChosen: boolean;
  readonly isNumber: boolean;
  readonly children: ReactNode;
  readonly onMenu: (anchor: Element) => void;
}

function Cell({ column, isChosen, isNumber, children, onMenu }: CellProps) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the row has the keys for it
    <div
      data-cell={column}
      className={`group/cell relative flex h-7 min-w-0 items-center ${isNumber ? 'justify-end' : ''} ${isChosen ? CHOSEN_CELL : ''}`}
      onContextMenu={(event) => {
        event.preventDefault();
        onMenu(event.currentTarget);
      }}
    >
      {children}
      <button
        type="button"
        tabIndex={-1}
        aria-label={`Menu of ${readColumnFacts(column).label}`}
        className={`absolute hidden size-6 items-center justify-center rounded bg-raised text-ink-soft group-hover/cell:flex hover:text-ink ${isNumber ? 'left-0' : 'right-0'}`}
        onClick={(event) => {
          event.stopPropagation();
          onMenu(event.currentTarget);
        }}
      >
        <Ellipsis size={14} aria-hidden />
      </button>
    </div>
  );
}

export function LogsTable(props: LogsTableProps) {
  const { rows, columns, context, onFilter, onPeek } = props;
  const { areKeysOn } = usePreferences();
  const navigate = useNavigate();
  const [chosen, setChosen] = useState(0);
  const [menu, setMenu] = useState<MenuTarget | null>(null);
  const closeMenu = useCallback(() => setMenu(null), []);
  const chosenColumn = columns[Math.min(chosen, columns.length - 1)] ?? 'time';

  const tableColumns = useMemo<readonly TableColumn<ListedLog>[]>(
    () =>
      columns.map((id) => {
        const { label, width, isNumber, sort } = readColumnFacts(id);
        return {
          id,
          header: label,
          // A time with its date is wider.
          width: id === 'time' && context.needsDate ? DATED_WIDTH : width,
          ...(isNumber === true ? { align: 'right' as const } : {}),
          ...(sort === undefined ? {} : { sort }),
          render: (row) => (
            <Cell
              column={id}
              isChosen={id === chosenColumn}
              isNumber={isNumber === true}
              onMenu={(anchor) => setMenu({ row, column: id, anchor })}
            >
              {renderCell(row, id, context)}
            </Cell>
          ),
        };
      }),
    [columns, context, chosenColumn],
  );

  const onRowKey = (event: KeyboardEvent, row: ListedLog): boolean => {
    const last = columns.length - 1;
    if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
      setChosen(Math.max(0, Math.min(last, Math.min(chosen, last) + (event.key === 'ArrowRight' ? 1 : -1))));
      return true;
    }
    if (!areKeysOn) return false;
    if (event.key === '.' || event.key === 'ContextMenu') {
      const anchor = event.currentTarget.querySelector(`[data-cell="${CSS.escape(chosenColumn)}"]`);
      if (anchor !== null) setMenu({ row, column: chosenColumn, anchor });
      return true;
    }
    if (event.key.toLowerCase() !== 'i') return false;
    const cell = readCellValue(row, chosenColumn);
    if (cell !== null) onFilter(filterByValue(cell.field, cell.value, !event.shiftKey));
    return true;
  };

  return (
    <>
      <DataTable
        label="Calls"
        columns={tableColumns}
        rows={rows}
        rowKey={(row) => row.id}
        selectedKey={props.peek}
        onSelect={(row) => onPeek(row.id)}
        onOpen={(row) => void navigate({ to: '/log/$id', params: { id: row.id }, search: { q: props.sought } })}
        onRowKey={onRowKey}
        sort={props.sort}
        onSort={props.onSort}
        onEndReached={props.onEndReached}
        footer={props.footer}
        renderCard={(row) => <LogCard row={row} />}
      />
      <span role="status" className="sr-only">
        {chosen > 0 ? `Cell ${readColumnFacts(chosenColumn).label}` : ''}
      </span>
      <CellMenu target={menu} onClose={closeMenu} onFilter={onFilter} onFilters={props.onFilters} />
    </>
  );
}
