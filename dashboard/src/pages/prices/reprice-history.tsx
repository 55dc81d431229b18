/** Re-pricings of before: what each changed, and on wish by day and model. Those under way stand in the strip above. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { isJobActive, type Job, jobsQuery } from '../../api/jobs.ts';
import { Button } from '../../components/buttons.tsx';
import { CostChange } from '../../components/cost-change.tsx';
import { JobProgress } from '../../components/job-progress.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { RepriceDaysView } from './reprice-days.tsx';
import { describeRepriceInput, REPRICE_KIND, readRepriceOutcome } from './reprice-job.ts';

const RECENT_JOBS = 10;

function Outcome({ job }: { readonly job: Job }) {
  const outcome = readRepriceOutcome(job);
  if (outcome === null) return null;
  const { dry_run, changed } = outcome;
  const calls = `${changed.toLocaleString('en-US')} ${changed === 1 ? 'call' : 'calls'}`;
  return (
    <span>
      {dry_run ? `would change ${calls}` : `changed ${calls}`}
      {changed > 0 && (
        <>
          , <CostChange of={outcome} />
        </>
      )}
    </span>
  );
}

function PastJob({ job }: { readonly job: Job }) {
  const [isOpen, setOpen] = useState(false);
  const asked = describeRepriceInput(job);
  return (
    <li className="rounded-lg border border-line bg-panel p-3">
      <JobProgress job={job} />
      {asked.length > 0 && <p className="mt-1 text-xs text-ink-soft [overflow-wrap:anywhere]">{asked.join(' · ')}</p>}
      <div className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-soft">
        <span className="text-ink-faint">
          job {job.id}, asked for <Timestamp at={job.created_at} form="relative" />
        </span>
        <Outcome job={job} />
        <Button
          look="quiet"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? 'Hide' : 'By day and model'}, job ${job.id}`}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? 'Hide' : 'By day and model'}
        </Button>
      </div>
      {isOpen && <RepriceDaysView jobId={job.id} isUnderWay={false} />}
    </li>
  );
}

export function RepriceHistory({ without }: { readonly without: number | undefined }) {
  const { data } = useQuery(jobsQuery);
  const jobs = (data?.data ?? [])
    .filter(({ id, kind, state }) => kind === REPRICE_KIND && id !== without && !isJobActive(state))
    .slice(0, RECENT_JOBS);
  if (jobs.length === 0) return null;
  return (
    <section aria-label="Earlier re-pricings">
      <h2 className="mb-2 text-sm font-semibold">Earlier</h2>
      <ul className="flex flex-col gap-2">
        {jobs.map((job) => (
          <PastJob key={job.id} job={job} />
        ))}
      </ul>
    </section>
  );
}
