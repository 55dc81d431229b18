/** Marks above the bars: time since the start of the run, or shares of its cost. */
import { formatDuration } from '../../../../src/format-amounts.ts';
import type { RunTable } from './model/run-table.ts';
import type { Axis } from './run-search.ts';

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

export function TimeScale({ table, axis }: { readonly table: RunTable; readonly axis: Axis }) {
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
