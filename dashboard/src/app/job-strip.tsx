/** Long work that runs now, on every page. */
import { useQuery } from '@tanstack/react-query';
import { isJobActive, jobsQuery } from '../api/jobs.ts';
import { JobProgress } from '../components/job-progress.tsx';

export function JobStrip() {
  const { data } = useQuery(jobsQuery);
  const active = (data?.data ?? []).filter(({ state }) => isJobActive(state));
  if (active.length === 0) return null;
  return (
    <section aria-label="Work under way" className="border-b border-line bg-panel px-4 py-1">
      {active.map((job) => (
        <JobProgress key={job.id} job={job} />
      ))}
    </section>
  );
}
