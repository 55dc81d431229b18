/** Metadata keys: what clients say about their calls, and which of it answers at once. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { isJobActive, type Job, jobsQuery } from '../../api/jobs.ts';
import { metadataKeysQuery } from '../../api/metadata-keys.ts';
import { Bytes } from '../../components/amounts.tsx';
import { JobProgress } from '../../components/job-progress.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Pending, StaleNote } from '../../components/states.tsx';
import { TimeRange } from '../../components/time-range.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import type { WindowSearch } from '../../search/time-window.ts';
import { useTimeWindow } from '../../search/use-time-window.ts';
import { DemoteDialog, PromoteDialog } from './key-dialogs.tsx';
import type { KeyChange } from './key-parts.tsx';
import { KeyTable } from './key-table.tsx';
import { NoKeys } from './no-keys.tsx';

const USUAL_RANGE = '7d';
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
      {data === undefined && <Pending query={{ error, refetch }} what="the metadata keys" />}
      {error !== null && data !== undefined && (
        <StaleNote>The gateway does not answer; these are its last figures.</StaleNote>
      )}
      {data !== undefined && (
        <div className="px-4 pb-6">
          {data.data.length === 0 ? (
            <NoKeys hasCalls={data.total_calls > 0} onWiden={isWide ? null : () => choose({ range: '30d' })} />
          ) : (
            <>
              <KeyTable keys={data.data} window={linked} onChange={setChange} />
              <p className="mt-2 text-xs text-ink-faint">
                Calls and shares cover all {data.total_calls.toLocaleString('en-US')} calls in this time range; values,
                their length and examples cover the latest {data.sampled_calls.toLocaleString('en-US')}. The index that
                finds calls by any key takes <Bytes value={data.index_bytes} />.
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

function JobCardList({ label, jobs }: { readonly label: string; readonly jobs: readonly Job[] }) {
  return (
    <ul aria-label={label} className="flex flex-col gap-2">
      {jobs.map((job) => (
        <li key={job.id} className="rounded-lg border border-line bg-panel p-3">
          <JobProgress job={job} />
          <p className="mt-1 text-xs text-ink-faint">
            asked for <Timestamp at={job.created_at} form="relative" />
            {job.finished_at !== null && (
              <>
                , ended <Timestamp at={job.finished_at} form="relative" />
              </>
            )}
          </p>
        </li>
      ))}
    </ul>
  );
}
