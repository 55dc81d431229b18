/** What is grouped by what, in which steps of time, and how many groups. */
import { useId } from 'react';
import { listDimensions } from '../../search/dimensions.ts';
import { type CostsSearch, INTERVALS, LIMITS, METRICS, USUAL_BY, USUAL_LIMIT } from './costs-search.ts';

interface Choice {
  readonly value: string;
  readonly label: string;
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly onChange: (value: string) => void;
}

function Select({ label, value, choices, onChange }: SelectProps) {
  const id = useId();
  return (
    <span className="inline-flex items-center gap-1.5">
      <label htmlFor={id} className="text-xs text-ink-faint">
        {label}
      </label>
      <select
        id={id}
        // Keys have no case, and an address may hold another spelling than the list.
        value={choices.find((choice) => choice.value.toLowerCase() === value.toLowerCase())?.value ?? value}
        onChange={(event) => onChange(event.target.value)}
        className="h-8 max-w-48 rounded-md border border-line-strong/70 bg-panel px-2"
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </span>
  );
}

const INTERVAL_LABELS = { auto: 'automatic', hour: 'hour', day: 'day', week: 'week', month: 'month' } as const;

interface CostControlsProps {
  readonly search: CostsSearch;
  readonly metadataKeys: readonly string[];
  /** Changes of the address. */
  readonly onChange: (change: Partial<CostsSearch>) => void;
  /** Of all shown values, as the address reads them. */
  readonly readChange: (raw: Readonly<Record<string, unknown>>) => CostsSearch;
}

export function CostControls({ search, metadataKeys, onChange, readChange }: CostControlsProps) {
  const by = search.by ?? USUAL_BY;
  const current = search.by2 === undefined ? [by] : [by, search.by2];
  const dimensions = listDimensions(metadataKeys, current).map(({ id, label }) => ({ value: id, label }));
  // What was isolated belongs to the old groups.
  const change = (raw: Readonly<Record<string, unknown>>) =>
    onChange({ ...readChange({ ...search, ...raw }), only: undefined });
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <Select label="Group by" value={by} choices={dimensions} onChange={(value) => change({ by: value })} />
      <Select
        label="then by"
        value={search.by2 ?? ''}
        choices={[{ value: '', label: '–' }, ...dimensions.filter(({ value }) => value !== by)]}
        onChange={(value) => change({ by2: value })}
      />
      <Select
        label="Each"
        value={search.interval ?? 'auto'}
        choices={INTERVALS.map((value) => ({ value, label: INTERVAL_LABELS[value] }))}
        onChange={(value) => change({ interval: value === 'auto' ? undefined : value })}
      />
      <Select
        label="Show"
        value={String(search.limit ?? USUAL_LIMIT)}
        choices={LIMITS.map((limit) => ({ value: String(limit), label: `top ${limit}` }))}
        onChange={(value) => change({ limit: value === String(USUAL_LIMIT) ? undefined : value })}
      />
      <Select
        label="Draw"
        value={search.metric ?? 'cost'}
        choices={METRICS.map((value) => ({ value, label: value }))}
        onChange={(value) => change({ metric: value === 'cost' ? undefined : value })}
      />
    </div>
  );
}
