/** Chooses the window of time of a page: named ranges, two instants, one window earlier or later. */
import { Popover } from '@base-ui/react/popover';
import { CalendarClock, ChevronLeft, ChevronRight } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { usePreferences } from '../preferences.tsx';
import { readTime } from '../search/read-time.ts';
import {
  DEFAULT_RANGE,
  listRanges,
  RANGES,
  type RangeName,
  resolveWindow,
  type WindowSearch,
} from '../search/time-window.ts';
import { Button, buttonClass, IconButton } from './buttons.tsx';
import { Problem } from './states.tsx';
import { useZoneName } from './timestamp.tsx';

interface TimeRangeProps {
  readonly search: WindowSearch;
  readonly onChange: (search: WindowSearch) => void;
  readonly usual?: RangeName;
}

const EDGES = [
  { edge: 'from', label: 'From', example: '2026-11-20 14:00' },
  { edge: 'to', label: 'To', example: '2026-11-21 14:00' },
] as const;

function formatEdge(iso: string, timeZone: string): string {
  return new Intl.DateTimeFormat('en-CA', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
    hourCycle: 'h23',
  }).format(new Date(iso));
}

export function TimeRange({ search, onChange, usual = DEFAULT_RANGE }: TimeRangeProps) {
  const { timeZone } = usePreferences();
  const zoneName = useZoneName();
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState({ from: '', to: '' });
  const [problem, setProblem] = useState<string | null>(null);
  const isFixed = search.from !== undefined || search.to !== undefined;
  const current = resolveWindow(search, Date.now(), timeZone, usual);
  const label = isFixed
    ? `${formatEdge(current.from, timeZone)} – ${formatEdge(current.to, timeZone)}`
    : RANGES[search.range ?? usual].label;

  const choose = (chosen: WindowSearch) => {
    onChange({ range: undefined, from: undefined, to: undefined, ...chosen });
    setOpen(false);
  };
  const shift = (direction: 1 | -1) => {
    const lengthMs = Date.parse(current.to) - Date.parse(current.from);
    const move = (iso: string) => new Date(Date.parse(iso) + direction * lengthMs).toISOString();
    choose({ from: move(current.from), to: move(current.to) });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const [fromMs, toMs] = [readTime(typed.from, timeZone), readTime(typed.to, timeZone)];
    if (fromMs === null || toMs === null) setProblem('Write both times, e.g. 2026-11-20 14:00.');
    else if (fromMs >= toMs) setProblem('The first time must be before the second.');
    else {
      setProblem(null);
      choose({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() });
    }
  };
  return (
    <div className="flex items-center gap-0.5">
      <IconButton label="Earlier" onClick={() => shift(-1)}>
        <ChevronLeft size={16} aria-hidden />
      </IconButton>
      <Popover.Root open={isOpen} onOpenChange={setOpen}>
        <Popover.Trigger className={buttonClass()} data-hotkey="t">
          <CalendarClock size={15} aria-hidden />
          <span className="num">{label}</span>
          <span className="text-xs text-ink-faint">{zoneName}</span>
        </Popover.Trigger>
        <Popover.Portal>
          <Popover.Positioner sideOffset={6} align="end" className="z-40">
            <Popover.Popup className="w-72 rounded-lg border border-line bg-panel p-2 shadow-lg">
              <Popover.Title className="px-2 py-1 text-xs font-medium text-ink-faint">Time range</Popover.Title>
              <ul className="grid grid-cols-2 gap-0.5">
                {listRanges().map(({ name, label: rangeLabel }) => (
                  <li key={name}>
                    <button
                      type="button"
                      aria-current={!isFixed && (search.range ?? usual) === name}
                      className="w-full rounded px-2 py-1.5 text-left hover:bg-raised aria-[current=true]:bg-accent-soft aria-[current=true]:text-accent"
                      onClick={() => choose({ range: name })}
                    >
                      {rangeLabel}
                    </button>
                  </li>
                ))}
              </ul>
              <form onSubmit={submit} className="mt-2 flex flex-col gap-2 border-t border-line px-2 pt-2 pb-1">
                {EDGES.map(({ edge, label: name, example }) => (
                  <label key={edge} className="flex flex-col gap-1 text-xs text-ink-soft">
                    {name}
                    <input
                      type="text"
                      placeholder={example}
                      value={typed[edge]}
                      onChange={(event) => setTyped({ ...typed, [edge]: event.target.value })}
                      className="h-8 rounded-md border border-line-strong bg-surface px-2 text-sm text-ink"
                    />
                  </label>
                ))}
                <Problem message={problem} className="text-xs" />
                <Button type="submit">Apply</Button>
              </form>
            </Popover.Popup>
          </Popover.Positioner>
        </Popover.Portal>
      </Popover.Root>
      <IconButton label="Later" onClick={() => shift(1)}>
        <ChevronRight size={16} aria-hidden />
      </IconButton>
    </div>
  );
}
