/** Why there is no call in the list: none ever, or none that is meant by the filters; and what to do about it. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { getJson } from '../../api/client.ts';
import { Button, buttonClass } from '../../components/buttons.tsx';
import { FilterChip } from '../../components/filter-bar.tsx';
import { EmptyState, Skeleton } from '../../components/states.tsx';
import type { LogsSearch } from './logs-search.ts';

interface LogsEmptyProps {
  readonly search: LogsSearch;
  readonly onChange: (search: LogsSearch) => void;
}

export function LogsEmpty({ search, onChange }: LogsEmptyProps) {
  const { data } = useQuery({
    queryKey: ['logs-any'],
    queryFn: ({ signal }) => getJson<{ readonly data: readonly unknown[] }>('/logs', { limit: 1 }, signal),
  });
  if (data === undefined) return <Skeleton />;
  if (data.data.length === 0)
    return (
      <EmptyState
        title="No call yet"
        actions={
          <Link to="/start" className={buttonClass('primary')}>
            Get started
          </Link>
        }
      >
        Point a client at the gateway; its calls appear here within a second.
      </EmptyState>
    );
  const filters = search.f ?? [];
  const isNarrowed = filters.length > 0 || search.q !== undefined || search.exclude_runs !== undefined;
  return (
    <EmptyState
      title={isNarrowed ? 'No call is meant by these filters' : 'No call in this time'}
      actions={
        <>
          {search.range !== '30d' && (
            <Button onClick={() => onChange({ range: '30d', from: undefined, to: undefined })}>
              Look at the last 30 days
            </Button>
          )}
          {isNarrowed && (
            <Button onClick={() => onChange({ f: undefined, q: undefined, exclude_runs: undefined })}>
              Clear the filters
            </Button>
          )}
        </>
      }
    >
      {isNarrowed && (
        <div className="flex flex-wrap justify-center gap-1.5">
          {filters.map((filter) => (
            <FilterChip
              key={filter}
              filter={filter}
              onRemove={() => onChange({ f: filters.filter((one) => one !== filter) })}
            />
          ))}
          {search.q !== undefined && <span>text: “{search.q.slice(0, 200)}”</span>}
          {search.exclude_runs !== undefined && <span>without runs</span>}
        </div>
      )}
    </EmptyState>
  );
}
