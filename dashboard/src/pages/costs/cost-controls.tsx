/** What is grouped by what, in which steps of time, and how many groups. */
import { InlineSelect } from '../../components/form-field.tsx';
import { listDimensions } from '../../search/dimensions.ts';
import { type CostsSearch, changeControl, INTERVALS, LIMITS, METRICS, USUAL_BY, USUAL_LIMIT } from './costs-search.ts';

const INTERVAL_LABELS = { auto: 'automatic', hour: 'hour', day: 'day', week: 'week', month: 'month' } as const;

interface CostControlsProps {
  readonly search: CostsSearch;
  readonly metadataKeys: readonly string[];
  readonly onChange: (change: (before: CostsSearch) => CostsSearch) => void;
}

export function CostControls({ search, metadataKeys, onChange }: CostControlsProps) {
  const by = search.by ?? USUAL_BY;
  const current = search.by2 === undefined ? [by] : [by, search.by2];
  const dimensions = listDimensions(metadataKeys, current).map(({ id, label }) => ({ value: id, label }));
  // Keys have no case, and an address may hold another spelling than the list.
  const find = (id: string) => dimensions.find(({ value }) => value.toLowerCase() === id.toLowerCase())?.value ?? id;
  const change = (raw: Readonly<Record<string, unknown>>) => onChange((before) => changeControl(before, raw));
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <InlineSelect
        label="Group by"
        value={find(by)}
        choices={dimensions}
        onChange={(value) => change({ by: value })}
      />
      <InlineSelect
        label="then by"
        value={find(search.by2 ?? '')}
        choices={[{ value: '', label: '–' }, ...dimensions.filter(({ value }) => value !== by)]}
        onChange={(value) => change({ by2: value })}
      />
      <InlineSelect
        label="Each"
        value={search.interval ?? 'auto'}
        choices={INTERVALS.map((value) => ({ value, label: INTERVAL_LABELS[value] }))}
        onChange={(value) => change({ interval: value === 'auto' ? undefined : value })}
      />
      <InlineSelect
        label="Show"
        value={String(search.limit ?? USUAL_LIMIT)}
        choices={LIMITS.map((limit) => ({ value: String(limit), label: `top ${limit}` }))}
        onChange={(value) => change({ limit: value === String(USUAL_LIMIT) ? undefined : value })}
      />
      <InlineSelect
        label="Draw"
        value={search.metric ?? 'cost'}
        choices={METRICS.map((value) => ({ value, label: value }))}
        onChange={(value) => change({ metric: value === 'cost' ? undefined : value })}
      />
    </div>
  );
}
