/** Jobs as cards, each with its bar and its times: what runs now and what ended lately. */
import type { Job } from '../api/jobs.ts';
import { JobProgress } from './job-progress.tsx';
import { Timestamp } from './timestamp.tsx';

interface JobCardListProps {
  readonly label: string;
  readonly jobs: readonly Job[];
}

export function JobCardList({ label, jobs }: JobCardListProps) {
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
