/** One job: its bar, its numbers, and the buttons to stop it or go on. The strip of every page and the pages use the same. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { CircleAlert, CircleCheck } from 'lucide-react';
import { cancelJob, isJobActive, isJobCancellable, isJobResumable, type Job, resumeJob } from '../api/jobs.ts';
import { Allowed } from '../app/session-context.tsx';
import { Button } from './buttons.tsx';
import { describeJob, jobPercent } from './describe-job.ts';
import { Problem } from './states.tsx';

function ProgressBar({ label, percent }: { readonly label: string; readonly percent: number | null }) {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(percent === null ? {} : { 'aria-valuenow': percent })}
      className="h-2 w-48 max-w-full overflow-hidden rounded-full border border-line-strong bg-surface"
    >
      <div
        className={`h-full bg-bar ${percent === null ? 'animate-pulse' : 'transition-[width]'}`}
        style={{ width: `${percent ?? 100}%` }}
      />
    </div>
  );
}

const CHANGED: readonly string[] = ['jobs', 'metadata-keys', 'reprice'];

function JobButtons({ job }: { readonly job: Job }) {
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (what: 'cancel' | 'resume') => (what === 'cancel' ? cancelJob(job.id) : resumeJob(job.id)),
    // What the job is about (a key's state, say) changes with it.
    onSettled: () => queries.invalidateQueries({ predicate: ({ queryKey }) => CHANGED.includes(String(queryKey[0])) }),
  });
  return (
    <>
      {isJobCancellable(job.state) && (
        <Button
          look="quiet"
          isBusy={change.isPending}
          aria-label={`Cancel ${job.title}`}
          onClick={() => change.mutate('cancel')}
        >
          Cancel
        </Button>
      )}
      {isJobResumable(job.state) && (
        <Button
          look="quiet"
          isBusy={change.isPending}
          aria-label={`Resume ${job.title}`}
          onClick={() => change.mutate('resume')}
        >
          Resume
        </Button>
      )}
      <Problem message={change.error?.message} className="w-full text-xs" />
    </>
  );
}

interface JobProgressProps {
  readonly job: Job;
  /** Without it the title is only read out, e.g. in a row that names the thing already. */
  readonly isTitleShown?: boolean;
}

export function JobProgress({ job, isTitleShown = true }: JobProgressProps) {
  const percent = jobPercent(job);
  const Mark = job.state === 'failed' ? CircleAlert : CircleCheck;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs" data-job-state={job.state}>
      {isTitleShown && <span className="font-medium">{job.title}</span>}
      {(isJobActive(job.state) || job.state === 'paused') && <ProgressBar label={job.title} percent={percent} />}
      <span className="num flex items-center gap-1 whitespace-normal text-ink-soft">
        {(job.state === 'failed' || job.state === 'done') && (
          <Mark size={13} aria-hidden className={`shrink-0 ${job.state === 'failed' ? 'text-bad' : 'text-good'}`} />
        )}
        {describeJob(job, Date.now()).join(' · ')}
      </span>
      <Allowed to="member">
        <JobButtons job={job} />
      </Allowed>
      {job.error !== null && <p className="w-full break-words text-bad">{job.error}</p>}
    </div>
  );
}
