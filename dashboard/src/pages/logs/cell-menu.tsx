/** What can be done with a cell of the list: filter by its value or without it, copy it, go where it leads. One menu for all cells. */
import { Menu } from '@base-ui/react/menu';
import { useNavigate } from '@tanstack/react-router';
import type { ListedLog } from '../../api/logs.ts';
import { filterByValue } from '../../search/filter-text.ts';
import { readCellValue, readColumnFacts } from './column-list.ts';

export interface MenuTarget {
  readonly row: ListedLog;
  readonly column: string;
  readonly anchor: Element;
}

interface CellMenuProps {
  readonly target: MenuTarget | null;
  readonly onClose: () => void;
  readonly onFilter: (filter: string) => void;
  readonly onFilters: (filters: readonly string[]) => void;
}

const ITEM = 'flex max-w-96 rounded px-2 py-1.5 outline-none data-[highlighted]:bg-raised cursor-default';

function copy(text: string): void {
  // Without the permission nothing happens: the value can be marked by hand in the opened call.
  navigator.clipboard.writeText(text).catch(() => {});
}

export function CellMenu({ target, onClose, onFilter, onFilters }: CellMenuProps) {
  const navigate = useNavigate();
  if (target === null) return null;
  const { row, column, anchor } = target;
  const cell = readCellValue(row, column);
  const { label } = readColumnFacts(column);
  const value = cell?.value ?? null;
  const short = value === null ? 'not set' : value.length > 40 ? `${value.slice(0, 40)}…` : value;
  const trace = row.trace_id ?? null;
  const spanName = row.span_name ?? null;
  const name = label.toLowerCase();
  const items: [string, () => void][] = [];
  if (cell !== null)
    items.push(
      [`Only ${name} = ${short}`, () => onFilter(filterByValue(cell.field, value))],
      [`Without ${name} = ${short}`, () => onFilter(filterByValue(cell.field, value, false))],
    );
  if (value !== null) items.push([`Copy ${name}`, () => copy(value)]);
  items.push(['Copy request id', () => copy(row.id)]);
  if (spanName !== null) {
    const model = row.model_requested == null ? [] : [filterByValue('model_requested', row.model_requested)];
    items.push(['Only similar calls', () => onFilters([filterByValue('span_name', spanName), ...model])]);
  }
  if (trace !== null)
    items.push(['Open the run at this call', () => void navigate({ to: '/run', search: { trace, sel: row.id } })]);
  items.push(['Open as a page', () => void navigate({ to: '/log/$id', params: { id: row.id } })]);
  return (
    <Menu.Root
      open
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <Menu.Portal>
        <Menu.Positioner anchor={anchor} sideOffset={4} align="start" className="z-40">
          <Menu.Popup
            aria-label={`${label} of the call`}
            className="min-w-44 rounded-lg border border-line bg-panel p-1 shadow-lg outline-none"
            finalFocus={() => anchor.closest<HTMLElement>('[role=row]')}
          >
            {items.map(([text, run]) => (
              <Menu.Item key={text} className={ITEM} onClick={run}>
                <span className="truncate">{text}</span>
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
