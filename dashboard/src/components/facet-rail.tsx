/** The values that occur, with how often, beside a list: a click filters by one, a second click takes it out again. */
import { filterByValue } from '../search/filter-text.ts';
import { Count } from './amounts.tsx';

export interface Facet {
  readonly field: string;
  readonly label: string;
  readonly values: readonly { readonly value: string | null; readonly label?: string; readonly count: number }[];
  /** Count of the values that are not listed. */
  readonly others?: number;
}

interface FacetRailProps {
  readonly facets: readonly Facet[];
  readonly filters: readonly string[];
  readonly onToggle: (filter: string) => void;
  readonly note?: string | undefined;
}

export function FacetRail({ facets, filters, onToggle, note }: FacetRailProps) {
  return (
    <aside
      aria-label="Facets"
      className="w-56 shrink-0 overflow-y-auto border-t border-r border-line bg-panel p-3 max-lg:hidden"
    >
      {facets.map(({ field, label, values, others = 0 }) => (
        <details key={field} open className="mb-3">
          <summary className="py-1 text-xs font-medium text-ink-soft">{label}</summary>
          <ul>
            {values.map(({ value, label: name, count }) => {
              const filter = filterByValue(field, value);
              return (
                <li key={value ?? ''}>
                  <button
                    type="button"
                    aria-pressed={filters.includes(filter)}
                    className="flex w-full items-center gap-2 rounded px-1.5 py-0.5 text-left hover:bg-raised aria-pressed:bg-accent-soft aria-pressed:text-accent"
                    onClick={() => onToggle(filter)}
                  >
                    <span className="min-w-0 flex-1 truncate" title={name ?? value ?? 'not set'}>
                      {name ?? value ?? '(not set)'}
                    </span>
                    <span className="text-xs text-ink-faint">
                      <Count value={count} />
                    </span>
                  </button>
                </li>
              );
            })}
            {others > 0 && (
              <li className="flex items-center gap-2 px-1.5 py-0.5 text-ink-faint">
                <span className="flex-1">Other values</span>
                <span className="text-xs">
                  <Count value={others} />
                </span>
              </li>
            )}
          </ul>
        </details>
      ))}
      {note !== undefined && <p className="text-xs text-ink-faint">{note}</p>}
    </aside>
  );
}
