/** No call in the window: because of the filters, because of the time, or because there has never been one. */
import { Link } from '@tanstack/react-router';
import { Button, buttonClass } from '../../components/buttons.tsx';
import { FilterChip } from '../../components/filter-bar.tsx';
import { EmptyState } from '../../components/states.tsx';
import { type FiltersChange, withoutFilter } from '../../search/filter-text.ts';

interface NoCostsProps {
  readonly filters: readonly string[];
  readonly onFilters: (change: FiltersChange) => void;
  /** Null when the window is as wide already. */
  readonly onWiden: (() => void) | null;
}

export function NoCosts({ filters, onFilters, onWiden }: NoCostsProps) {
  const widen = onWiden !== null && <Button onClick={onWiden}>Show the last 30 days</Button>;
  if (filters.length > 0)
    return (
      <EmptyState
        title="No call matches"
        actions={
          <>
            {filters.map((filter) => (
              <FilterChip
                key={filter}
                filter={filter}
                onRemove={() => onFilters((before) => withoutFilter(before, filter))}
              />
            ))}
            <Button onClick={() => onFilters(() => [])}>Remove all filters</Button>
            {widen}
          </>
        }
      >
        No calls in this time range pass all the filters.
      </EmptyState>
    );
  return (
    <EmptyState
      title="No calls in this time"
      actions={
        <>
          {widen}
          <Link to="/start" className={buttonClass('primary')}>
            Make a first call
          </Link>
        </>
      }
    >
      Costs appear here as soon as calls go through the gateway: by model, provider, key, or anything that clients say
      in their X-Gateway headers.
    </EmptyState>
  );
}
