/** Chooses the columns of the Logs and their order, metadata keys included. */
import { Popover } from '@base-ui/react/popover';
import { useQuery } from '@tanstack/react-query';
import { ArrowDown, ArrowUp, Columns3, Plus } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { getJson } from '../../api/client.ts';
import { Button, buttonClass, IconButton } from '../../components/buttons.tsx';
import { addColumn, type ColumnsChange, listColumns, moveColumn, readColumnFacts } from './column-list.ts';

const MOST_SUGGESTED = 12;

interface ColumnMenuProps {
  readonly columns: readonly string[];
  readonly onColumns: (change: ColumnsChange) => void;
}

export function ColumnMenu({ columns, onColumns }: ColumnMenuProps) {
  const [isOpen, setOpen] = useState(false);
  const [key, setKey] = useState('');
  const { data } = useQuery({
    queryKey: ['metadata-key-names'],
    queryFn: ({ signal }) => getJson('/metadata-keys', {}, signal),
    enabled: isOpen,
  });
  const suggested = (data?.data ?? []).slice(0, MOST_SUGGESTED).map((one) => `metadata.${one.key}`);
  const absent = [...listColumns(), ...suggested].filter((id) => !columns.includes(id));
  const addKey = (event: FormEvent) => {
    event.preventDefault();
    const id = `metadata.${key.trim()}`;
    if (key.trim() !== '') onColumns((before) => addColumn(before, id));
    setKey('');
  };
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger className={buttonClass()} data-hotkey="c">
        <Columns3 size={15} aria-hidden /> Columns
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={6} align="end" className="z-40">
          <Popover.Popup className="flex max-h-[70vh] w-72 flex-col gap-2 overflow-auto rounded-lg border border-line bg-panel p-3 shadow-lg">
            <Popover.Title className="text-xs font-medium text-ink-faint">Columns, in order</Popover.Title>
            <ul>
              {columns.map((id, index) => {
                const { label } = readColumnFacts(id);
                return (
                  <li key={id} className="flex items-center gap-1">
                    <label className="flex min-w-0 flex-1 items-center gap-2">
                      <input
                        type="checkbox"
                        checked
                        disabled={columns.length === 1}
                        onChange={() => onColumns((before) => before.filter((one) => one !== id))}
                      />
                      <span className="truncate">{label}</span>
                    </label>
                    <IconButton
                      label={`Move ${label} to the left`}
                      disabled={index === 0}
                      onClick={() => onColumns((before) => moveColumn(before, id, -1))}
                    >
                      <ArrowUp size={14} aria-hidden />
                    </IconButton>
                    <IconButton
                      label={`Move ${label} to the right`}
                      disabled={index === columns.length - 1}
                      onClick={() => onColumns((before) => moveColumn(before, id, 1))}
                    >
                      <ArrowDown size={14} aria-hidden />
                    </IconButton>
                  </li>
                );
              })}
            </ul>
            <ul className="border-t border-line pt-2">
              {absent.map((id) => (
                <li key={id}>
                  <label className="flex items-center gap-2 py-1">
                    <input
                      type="checkbox"
                      checked={false}
                      onChange={() => onColumns((before) => addColumn(before, id))}
                    />
                    <span className="truncate" title={readColumnFacts(id).about}>
                      {readColumnFacts(id).label}
                    </span>
                    {id.startsWith('metadata.') && <span className="text-xs text-ink-faint">metadata</span>}
                  </label>
                </li>
              ))}
            </ul>
            <form onSubmit={addKey} className="flex gap-1 border-t border-line pt-2">
              <input
                aria-label="Metadata key as a column"
                placeholder="Metadata key"
                value={key}
                onChange={(event) => setKey(event.target.value)}
                className="h-8 min-w-0 flex-1 rounded-md border border-line-strong bg-surface px-2 text-sm"
              />
              <Button type="submit" aria-label="Add the column">
                <Plus size={15} aria-hidden />
              </Button>
            </form>
            <Button look="quiet" onClick={() => onColumns(null)}>
              Default columns
            </Button>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
