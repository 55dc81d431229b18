/** Metadata keys: what clients say about their calls, and which of it answers at once. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { isJobActive, jobsQuery } from '../../api/jobs.ts';
import { metadataKeysQuery } from '../../api/metadata-keys.ts';
import { JobCardList } from '../../components/job-card-list.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { ErrorState, Skeleton, StaleNote } from '../../components/states.tsx';
import { TimeRange } from '../../components/time-range.tsx';
import type { WindowSearch } from '../../search/time-window.ts';
import { useTimeWindow } from '../../search/use-time-window.ts';
import { DemoteDialog } from './demote-dialog.tsx';
import type { KeyChange } from './key-parts.tsx';
import { KeyTable } from './key-table.tsx';
import { USUAL_RANGE } from './metadata-search.ts';
import { NoKeys } from './no-keys.tsx';
import { PromoteDialog } from './promote-dialog.tsx';

const RECENT_JOBS = 5;
const WIDE_MS = 29 * 86_400_000;

/** Those under way stand in the strip above every page, and in their key's row. */
function RecentJobs() {
  const { data } = useQuery(jobsQuery);
  const jobs = (data?.data ?? [])
    .filter(({ kind, state }) => kind.endsWith('_metadata') && !isJobActive(state))
    .slice(0, RECENT_JOBS);
  if (jobs.length === 0) return null;
  return (
    <section aria-label="Latest promotions and demotions" className="mt-6">
      <h2 className="mb-2 text-sm font-semibold">Latest promotions and demotions</h2>
      <JobCardList label="Latest promotions and demotions" jobs={jobs} />
    </section>
  );
}

export function MetadataPage() {
  const search = useSearch({ from: '/app/metadata' });
  const navigate = useNavigate({ from: '/metadata' });
  const window = useTimeWindow(search, USUAL_RANGE);
  const { data, error, refetch } = useQuery(metadataKeysQuery(window));
  const [change, setChange] = useState<KeyChange | null>(null);
  const choose = (chosen: WindowSearch) =>
    void navigate({ search: (was) => ({ ...was, range: undefined, from: undefined, to: undefined, ...chosen }) });
  // Logs and Costs have their own usual window: the links name this one.
  const linked =
    search.from === undefined && search.to === undefined ? { range: search.range ?? USUAL_RANGE } : { ...window };
  const close = () => setChange(null);
  const isWide = Date.parse(window.to) - Date.parse(window.from) >= WIDE_MS;
  return (
    <>
      <PageHeader
        title="Metadata keys"
        about="What clients say about their calls in X-Gateway headers."
        actions={<TimeRange search={search} usual={USUAL_RANGE} onChange={choose} />}
      />
      {error !== null && data === undefined && (
        <ErrorState error={error} what="the metadata keys" onRetry={() => void refetch()} />
      )}
      {error !== null && data !== undefined && (
        <StaleNote>The gateway does not answer; these are its last figures.</StaleNote>
      )}
      {data === undefined && error === null && <Skeleton />}
      {data !== undefined && (
        <div className="px-4 pb-6">
          {data.data.length === 0 ? (
            <NoKeys hasCalls={data.total_calls > 0} onWiden={isWide ? null : () => choose({ range: '30d' })} />
          ) : (
            <>
              <KeyTable keys={data.data} window={linked} onChange={setChange} />
              <p className="mt-2 text-xs text-ink-faint">
                Calls and shares are of all {data.total_calls.toLocaleString('en-US')} calls of this time; values, their
                length and examples of the latest {data.sampled_calls.toLocaleString('en-US')} of them.
              </p>
            </>
          )}
          <RecentJobs />
        </div>
      )}
      {change?.what === 'promote' && <PromoteDialog metadataKey={change.subject} onClose={close} />}
      {change?.what === 'demote' && <DemoteDialog metadataKey={change.subject} onClose={close} />}
    </>
  );
}
