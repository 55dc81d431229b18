/** What the list pages (Logs, Runs) share: buttons of the head, why a list is empty, the sums and bars above it. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { PanelLeft, Radio } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError, getJson } from '../api/client.ts';
import { withoutFilter } from '../search/filter-text.ts';
import type { ListSearch } from '../search/list-search.ts';
import { changeOfFilters, type SearchChange } from '../search/search-change.ts';
import { Count, Duration, Money } from './amounts.tsx';
import { Button, buttonClass } from './buttons.tsx';
import { FilterChip } from './filter-bar.tsx';
import { FormerAnswer } from './former-answer.tsx';
import { Histogram, type HistogramBucket } from './histogram.tsx';
import { EmptyState, ErrorState, Skeleton } from './states.tsx';
import { type SummaryFigure, SummaryStrip } from './summary-strip.tsx';
import { SumsSince } from './sums-since.tsx';
import { Timestamp } from './timestamp.tsx';

export function LiveButton({ isOn, onClick }: { readonly isOn: boolean; readonly onClick: () => void }) {
  return (
    <Button
      aria-pressed={isOn}
      data-hotkey="l"
      className="aria-pressed:bg-accent-soft aria-pressed:text-accent"
      onClick={onClick}
    >
      <Radio size={15} aria-hidden /> Live
    </Button>
  );
}

interface FacetsButtonProps {
  readonly facets: 'off' | undefined;
  readonly onChange: (change: { readonly facets: 'off' | undefined }) => void;
}

export function FacetsButton({ facets, onChange }: FacetsButtonProps) {
  return (
    <Button
      look="quiet"
      aria-pressed={facets !== 'off'}
      className="max-lg:hidden"
      onClick={() => onChange({ facets: facets === 'off' ? undefined : 'off' })}
    >
      <PanelLeft size={15} aria-hidden /> Facets
    </Button>
  );
}

export function RefreshLine() {
  return <div aria-hidden className="absolute inset-x-0 top-0 z-20 h-0.5 animate-pulse bg-accent" />;
}

/** A time in the list needs its date: the window has more than one day. */
export function needsDates({ from, to }: { readonly from: string; readonly to: string }): boolean {
  return Date.parse(to) - Date.parse(from) > 86_400_000 + 120_000;
}

type EmptySearch = ListSearch & { readonly exclude_runs?: 'true' | undefined };

interface ListEmptyProps {
  readonly what: 'calls' | 'runs';
  readonly search: EmptySearch;
  readonly onChange: (change: SearchChange<EmptySearch>) => void;
  readonly children: ReactNode;
}

/** None was there ever, or none passes the filters; and what to do about it. */
export function ListEmpty({ what, search, onChange, children }: ListEmptyProps) {
  const { data } = useQuery({
    queryKey: [`${what}-any`],
    queryFn: async ({ signal }) =>
      what === 'calls'
        ? (await getJson('/logs', { limit: 1 }, signal)).data.length > 0
        : (await getJson('/runs', { limit: 1 }, signal)).data.length > 0,
  });
  if (data === undefined) return <Skeleton />;
  if (!data)
    return (
      <EmptyState
        title={`No ${what} yet`}
        actions={
          <Link to="/start" className={buttonClass('primary')}>
            Get started
          </Link>
        }
      >
        {children}
      </EmptyState>
    );
  const { f = [], q, exclude_runs } = search;
  const isNarrowed = f.length > 0 || q !== undefined || exclude_runs !== undefined;
  return (
    <EmptyState
      title={isNarrowed ? `No ${what} match these filters` : `No ${what} in this time range`}
      actions={
        <>
          {search.range !== '30d' && (
            <Button onClick={() => onChange({ range: '30d', from: undefined, to: undefined })}>
              Show the last 30 days
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
          {f.map((filter) => (
            <FilterChip
              key={filter}
              filter={filter}
              onRemove={() => onChange(changeOfFilters((before) => withoutFilter(before, filter)))}
            />
          ))}
          {q !== undefined && <span>text: “{q.slice(0, 200)}”</span>}
          {exclude_runs !== undefined && <span>without runs</span>}
        </div>
      )}
    </EmptyState>
  );
}

interface SearchedToProps {
  /** The time of the last row that was searched, or its value in another order. */
  readonly at: string;
  readonly sort: string;
  readonly isFetching: boolean;
  readonly onContinue: () => void;
}

function Place({ at, sort }: Pick<SearchedToProps, 'at' | 'sort'>) {
  if (sort.endsWith('_at')) return <Timestamp at={at} />;
  if (at.startsWith('-')) return <>those without a value</>;
  if (sort.endsWith('total_cost')) return <Money value={at} />;
  return sort.endsWith('duration_ms') ? <Duration ms={Number(at)} /> : <Count value={Number(at)} />;
}

/** How far a list was searched that ended early, and a button that goes on. */
export function SearchedTo({ at, sort, isFetching, onContinue }: SearchedToProps) {
  return (
    <span role="status" className="inline-flex flex-wrap items-center justify-center gap-3">
      <span>
        Searched {sort.startsWith('-') ? (sort.endsWith('_at') ? 'back' : 'down') : 'up'} to{' '}
        <Place at={at} sort={sort} />
      </span>
      <Button disabled={isFetching} onClick={onContinue}>
        {isFetching ? 'Searching…' : 'Continue'}
      </Button>
    </span>
  );
}

/** No row passed the filters in the part that was searched. */
export function NothingSoFar(props: SearchedToProps) {
  return (
    <EmptyState title="Nothing found so far">
      <SearchedTo {...props} />
    </EmptyState>
  );
}

export function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

interface Sums {
  readonly searched_to: string | null;
  readonly bucket_ms: number;
  readonly buckets: readonly unknown[];
}

interface ListSumsProps<Body extends Sums> {
  readonly query: {
    readonly data: Body | undefined;
    readonly error: unknown;
    readonly isFetching: boolean;
    readonly isPlaceholderData: boolean;
    readonly refetch: () => unknown;
  };
  readonly what: 'calls' | 'runs';
  readonly onContinue: (() => void) | null;
  readonly label: string;
  readonly barsLabel: string;
  readonly listFigures: (sums: Body) => readonly SummaryFigure[];
  readonly toBucket: (bucket: Body['buckets'][number]) => HistogramBucket;
  readonly onSelect: (from: string, to: string) => void;
}

/** The sums over what is filtered, and when it happened. */
export function ListSums<Body extends Sums>(props: ListSumsProps<Body>) {
  const { data, error, isFetching, isPlaceholderData, refetch } = props.query;
  // A filter that cannot be read is said at the filters.
  const isSilent = error === null || (error instanceof ApiError && error.status === 400);
  // The height of what is coming, so that the list does not jump.
  if (data === undefined && isSilent) return <div className="h-32" />;
  if (data === undefined) return <ErrorState error={error} what="the sums" onRetry={() => void refetch()} />;
  return (
    <FormerAnswer isFormer={isPlaceholderData}>
      <SummaryStrip label={props.label} figures={props.listFigures(data)} />
      <SumsSince
        what={props.what === 'calls' ? 'Sums over calls' : 'Sums over runs'}
        at={data.searched_to}
        isFetching={isFetching}
        onContinue={props.onContinue}
      />
      <Histogram
        label={props.barsLabel}
        buckets={data.buckets.map(props.toBucket)}
        bucketMs={data.bucket_ms}
        onSelect={props.onSelect}
      />
    </FormerAnswer>
  );
}
