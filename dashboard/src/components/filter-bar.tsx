/** Free text and filter chips above a list, and a form that adds a filter. The filters' grammar is the API's. */

import { Popover } from '@base-ui/react/popover';
import { ListFilter, Search, X } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { useSession } from '../app/session-context.tsx';
import { addFilter, describeFilter, type FiltersChange, formatFilter, withoutFilter } from '../search/filter-text.ts';
import { Button, buttonClass } from './buttons.tsx';
import { Problem } from './states.tsx';
import { useTypedText } from './use-typed-text.ts';

export interface FilterField {
  /** As in the API: a column, `run.<column>`, or `metadata.` followed by a key. */
  readonly field: string;
  readonly label: string;
}

const OPS = [
  { op: 'eq', label: 'is' },
  { op: 'ne', label: 'is not' },
  { op: 'contains', label: 'contains' },
  { op: 'prefix', label: 'begins with' },
  { op: 'gt', label: 'is greater than' },
  { op: 'lt', label: 'is less than' },
  { op: 'has', label: 'is set' },
  { op: 'nohas', label: 'is not set' },
] as const;

const TYPING_PAUSE_MS = 300;

interface FilterBarProps {
  readonly fields: readonly FilterField[];
  readonly filters: readonly string[];
  readonly onFilters: (change: FiltersChange) => void;
  /** The line for free text; without it there are only filters. */
  readonly q?: string;
  readonly onText?: (q: string) => void;
  readonly placeholder?: string;
  readonly problem?: string | null;
}

interface TextFilterProps {
  readonly q: string;
  readonly onText: (q: string) => void;
  readonly placeholder: string;
}

function TextFilter({ q, onText, placeholder }: TextFilterProps) {
  const { text, setText, send } = useTypedText(q, onText, TYPING_PAUSE_MS);
  return (
    <div className="relative min-w-52 flex-1 sm:max-w-80">
      <Search size={15} aria-hidden className="pointer-events-none absolute top-2 left-2.5 text-ink-faint" />
      <input
        type="search"
        aria-label={placeholder}
        placeholder={placeholder}
        value={text}
        data-hotkey="/"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') send();
        }}
        className="h-8 w-full rounded-md border border-line-strong/70 bg-panel pr-2 pl-8 placeholder:text-ink-faint"
      />
    </div>
  );
}

export function FilterBar(props: FilterBarProps) {
  const { fields, filters, q = '', onFilters, onText, placeholder = 'Text', problem = null } = props;
  // It looks into prompts and answers.
  const { may_read_bodies: mayReadTexts } = useSession();
  return (
    <div className="flex min-w-0 flex-1 flex-wrap items-center gap-1.5">
      {mayReadTexts && onText !== undefined && <TextFilter q={q} onText={onText} placeholder={placeholder} />}
      <AddFilter fields={fields} onAdd={(filter) => onFilters((before) => addFilter(before, filter))} />
      {filters.map((filter) => (
        <FilterChip
          key={filter}
          filter={filter}
          onRemove={() => onFilters((before) => withoutFilter(before, filter))}
        />
      ))}
      {filters.length > 1 && (
        <Button look="quiet" onClick={() => onFilters(() => [])}>
          Clear all
        </Button>
      )}
      <Problem message={problem} className="w-full" />
    </div>
  );
}

export function FilterChip({ filter, onRemove }: { readonly filter: string; readonly onRemove: () => void }) {
  const words = describeFilter(filter);
  return (
    <span className="inline-flex h-7 max-w-72 items-center rounded-md bg-accent-soft pl-2 text-accent">
      <span className="truncate" title={words}>
        {words}
      </span>
      <button
        type="button"
        aria-label={`Remove filter ${words}`}
        className="flex h-7 w-7 items-center justify-center"
        onClick={onRemove}
      >
        <X size={14} aria-hidden />
      </button>
    </span>
  );
}

const INPUT = 'h-8 w-full rounded-md border border-line-strong bg-surface px-2 text-sm text-ink';

function AddFilter({
  fields,
  onAdd,
}: {
  readonly fields: readonly FilterField[];
  readonly onAdd: (filter: string) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const [field, setField] = useState(fields[0]?.field ?? '');
  const [key, setKey] = useState('');
  const [op, setOp] = useState<string>('eq');
  const [value, setValue] = useState('');
  const isMetadata = field === 'metadata.';
  const needsValue = op !== 'has' && op !== 'nohas';
  const isReady = (!needsValue || value !== '') && (!isMetadata || key !== '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isReady) return;
    onAdd(formatFilter({ field: isMetadata ? `metadata.${key}` : field, op, values: needsValue ? [value] : [] }));
    setValue('');
    setOpen(false);
  };
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger className={buttonClass()}>
        <ListFilter size={15} aria-hidden /> Filter
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={6} align="start" className="z-40">
          <Popover.Popup className="w-64 rounded-lg border border-line bg-panel p-3 shadow-lg">
            <Popover.Title className="mb-2 text-xs font-medium text-ink-faint">Add a filter</Popover.Title>
            <form onSubmit={submit} className="flex flex-col gap-2">
              <select
                aria-label="Field"
                value={field}
                onChange={(event) => setField(event.target.value)}
                className={INPUT}
              >
                {fields.map(({ field: name, label }) => (
                  <option key={name} value={name}>
                    {label}
                  </option>
                ))}
                <option value="metadata.">Metadata key…</option>
              </select>
              {isMetadata && (
                <input
                  aria-label="Metadata key"
                  placeholder="Feature"
                  value={key}
                  onChange={(event) => setKey(event.target.value)}
                  className={INPUT}
                />
              )}
              <select
                aria-label="Comparison"
                value={op}
                onChange={(event) => setOp(event.target.value)}
                className={INPUT}
              >
                {OPS.map(({ op: name, label }) => (
                  <option key={name} value={name}>
                    {label}
                  </option>
                ))}
              </select>
              {needsValue && (
                <input
                  aria-label="Value"
                  placeholder="Value"
                  value={value}
                  onChange={(event) => setValue(event.target.value)}
                  className={INPUT}
                />
              )}
              <Button type="submit" look="primary" disabled={!isReady}>
                Add filter
              </Button>
            </form>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
