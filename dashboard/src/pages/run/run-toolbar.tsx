/** How the run is shown: view, axis, colour, search, levels, folds, whose cost. */
import { ChevronDown, ChevronUp, Search } from 'lucide-react';
import { IconButton } from '../../components/buttons.tsx';
import { Checkbox } from '../../components/form-field.tsx';
import { useIsNarrow } from '../../components/use-is-narrow.ts';
import { useTypedText } from '../../components/use-typed-text.ts';
import type { RunSearch } from './run-search.ts';

const TYPING_PAUSE_MS = 200;
const SHOWN_LEVELS = 4;

interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
}

interface ChoicesProps<T extends string> {
  readonly label: string;
  readonly choices: readonly Choice<T>[];
  readonly current: T | null;
  readonly onChange: (value: T) => void;
}

function Choices<T extends string>({ label, choices, current, onChange }: ChoicesProps<T>) {
  return (
    <fieldset className="flex items-center">
      <legend className="float-left mr-1.5 text-xs text-ink-soft">{label}</legend>
      <div className="flex overflow-hidden rounded-md border border-line-strong/60">
        {choices.map(({ value, label: name }) => (
          <button
            key={value}
            type="button"
            aria-pressed={value === current}
            className="h-7 border-r border-line-strong/60 bg-panel px-2 last:border-0 hover:bg-raised focus-visible:-outline-offset-2 aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
            onClick={() => onChange(value)}
          >
            {name}
          </button>
        ))}
      </div>
    </fieldset>
  );
}

interface RunToolbarProps {
  readonly search: RunSearch;
  readonly onChange: (search: RunSearch) => void;
  /** The level that is open; null when steps were opened and closed one by one. */
  readonly level: number | 'all' | null;
  readonly levels: number;
  readonly onLevel: (level: number | 'all') => void;
  readonly found: { readonly number: number; readonly count: number } | null;
  readonly onPress: (key: string) => void;
}

/** On a narrow screen it opens on demand, so that the tree is what one sees. */
export function RunToolbar(props: RunToolbarProps) {
  const isNarrow = useIsNarrow();
  if (!isNarrow) return <RunControls {...props} />;
  return (
    <details className="px-4 pb-2">
      <summary className="py-1 font-medium">View and search</summary>
      <div className="-mx-4 pt-2">
        <RunControls {...props} />
      </div>
    </details>
  );
}

function RunControls({ search, onChange, level, levels, onLevel, found, onPress }: RunToolbarProps) {
  const isWaterfall = search.view !== 'steps';
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 pb-3">
      <Choices
        label="View"
        choices={[
          { value: 'waterfall', label: 'Waterfall' },
          { value: 'steps', label: 'Steps' },
        ]}
        current={search.view ?? 'waterfall'}
        onChange={(view) => onChange({ view: view === 'steps' ? view : undefined })}
      />
      {isWaterfall && (
        <>
          <Choices
            label="Axis"
            choices={[
              { value: 'time', label: 'Time' },
              { value: 'cost', label: 'Cost' },
            ]}
            current={search.axis ?? 'time'}
            onChange={(axis) => onChange({ axis: axis === 'cost' ? axis : undefined })}
          />
          <Choices
            label="Colour"
            choices={[
              { value: 'status', label: 'Status' },
              { value: 'model', label: 'Model' },
              { value: 'cost', label: 'Cost' },
            ]}
            current={search.color ?? 'status'}
            onChange={(color) => onChange({ color: color === 'status' ? undefined : color })}
          />
          <Choices
            label="Level"
            choices={[
              ...Array.from({ length: Math.min(levels, SHOWN_LEVELS) }, (_, index) => ({
                value: String(index + 1),
                label: String(index + 1),
              })),
              { value: 'all', label: 'All' },
            ]}
            current={level === null ? null : level !== 'all' && level >= levels ? String(levels) : String(level)}
            onChange={(value) => onLevel(value === 'all' ? 'all' : Number(value))}
          />
          <SearchInRun q={search.q ?? ''} found={found} onText={(q) => onChange({ q })} onPress={onPress} />
          <Checkbox
            className="h-7 whitespace-nowrap"
            label="Matches only"
            isOn={search.only === '1'}
            onChange={(isOn) => onChange({ only: isOn ? '1' : undefined })}
          />
          <Checkbox
            className="h-7 whitespace-nowrap"
            label="Fold repeats"
            isOn={search.fold !== '0'}
            onChange={(isOn) => onChange({ fold: isOn ? undefined : '0' })}
          />
          <Checkbox
            className="h-7 whitespace-nowrap"
            label="Own cost"
            isOn={search.cost === 'self'}
            onChange={(isOn) => onChange({ cost: isOn ? 'self' : undefined })}
          />
        </>
      )}
    </div>
  );
}

interface SearchInRunProps {
  readonly q: string;
  readonly found: RunToolbarProps['found'];
  readonly onText: (q: string | undefined) => void;
  readonly onPress: (key: string) => void;
}

function SearchInRun({ q, found, onText, onPress }: SearchInRunProps) {
  const { text, setText } = useTypedText(q, (next) => onText(next === '' ? undefined : next), TYPING_PAUSE_MS);
  return (
    <div className="flex items-center gap-1">
      <div className="relative">
        <Search size={14} aria-hidden className="pointer-events-none absolute top-1.5 left-2 text-ink-faint" />
        <input
          type="search"
          aria-label="Search in the run"
          placeholder="Name, model, error"
          value={text}
          data-hotkey="/"
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') onPress(event.shiftKey ? 'N' : 'n');
          }}
          className="h-7 w-48 rounded-md border border-line-strong/70 bg-panel pr-2 pl-7 placeholder:text-ink-faint"
        />
      </div>
      <span role="status" className="num text-xs text-ink-soft">
        {found !== null && (found.count === 0 ? 'no match' : `${found.number || '–'} of ${found.count}`)}
      </span>
      {found !== null && found.count > 0 && (
        <>
          <IconButton label="Previous match (N)" onClick={() => onPress('N')}>
            <ChevronUp size={15} aria-hidden />
          </IconButton>
          <IconButton label="Next match (n)" onClick={() => onPress('n')}>
            <ChevronDown size={15} aria-hidden />
          </IconButton>
        </>
      )}
    </div>
  );
}
