/** Marks above the bars: time since the start of the run, or shares of its cost. */
import { formatDuration } from '../../../../src/format-amounts.ts';
import type { RunTable } from './model/run-table.ts';
import type { Axis } from './run-search.ts';

const MARKS = [0, 0.25, 0.5, 0.75, 1] as const;

function labelOf(mark: number, table: RunTable, axis: Axis): string {
  if (axis === 'cost') return `${mark * 100}%`;
  return mark === 0 ? '0' : formatDuration(table.lengthMs * mark);
}

export function TimeScale({ table, axis }: { readonly table: RunTable; readonly axis: Axis }) {
  return (
    <div className="num flex justify-between text-ink-faint" aria-hidden="true">
      {MARKS.map((mark) => (
        <span key={mark} className={mark === 0.25 || mark === 0.75 ? 'max-xl:hidden' : ''}>
          {labelOf(mark, table, axis)}
        </span>
      ))}
    </div>
  );
}
