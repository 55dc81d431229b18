/** Why there is no run in the list: none ever, or none that is meant by the filters; and what to do about it. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { getJson } from '../../api/client.ts';
import { Button, buttonClass } from '../../components/buttons.tsx';
import { FilterChip } from '../../components/filter-bar.tsx';
import { EmptyState, Skeleton } from '../../components/states.tsx';
import type { RunsSearch } from './runs-search.ts';

interface RunsEmptyProps {
  readonly search: RunsSearch;
  readonly onChange: (search: RunsSearch) => void;
}

export function RunsEmpty({ search, onChange }: RunsEmptyProps) {
  const { data } = useQuery({
    queryKey: ['runs-any'],
    queryFn: ({ signal }) => getJson<{ readonly data: readonly unknown[] }>('/runs', { limit: 1 }, signal),
  });
  if (data === undefined) return <Skeleton />;
  if (data.data.length === 0)
    return (
      <EmptyState
        title="No run yet"
        actions={
          <Link to="/start" className={buttonClass('primary')}>
            Get started
          </Link>
        }
      >
        Calls that carry the same <code>X-Gateway-Trace-Id</code> become a run, and <code>X-Gateway-Span-Path</code>{' '}
        puts them into its steps. Calls without a trace id are in{' '}
        <Link to="/logs" className="text-accent underline">
          Logs
        </Link>
        .
      </EmptyState>
    );
  const filters = search.f ?? [];
  const isNarrowed = filters.length > 0 || search.q !== undefined;
  return (
    <EmptyState
      title={isNarrowed ? 'No run is meant by these filters' : 'No run in this time'}
      actions={
        <>
          {search.range !== '30d' && (
            <Button onClick={() => onChange({ range: '30d', from: undefined, to: undefined })}>
              Look at the last 30 days
            </Button>
          )}
          {isNarrowed && <Button onClick={() => onChange({ f: undefined, q: undefined })}>Clear the filters</Button>}
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
        </div>
      )}
    </EmptyState>
  );
}
