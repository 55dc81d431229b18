/** Long work that runs now, on every page: its bar, rate and remaining time. */
import { useQuery } from '@tanstack/react-query';
import { formatCount, formatDuration } from '../../../src/format-amounts.ts';
import { getJson } from '../api/client.ts';

const BUSY_POLL_MS = 1_000;
const IDLE_POLL_MS = 15_000;

interface RunningJob {
  readonly id: string;
  readonly title: string;
  readonly state: string;
  readonly done: number;
  readonly total: number | null;
  readonly unit: string;
  readonly rate_per_second: number | null;
  readonly eta_seconds: number | null;
}

const ACTIVE_STATES: readonly string[] = ['queued', 'running', 'cancelling', 'stalled'];

export function JobStrip() {
  const { data } = useQuery({
    queryKey: ['jobs'],
    queryFn: ({ signal }) => getJson<{ readonly data: readonly RunningJob[] }>('/jobs', {}, signal),
    refetchInterval: ({ state }) =>
      (state.data?.data ?? []).some((job) => ACTIVE_STATES.includes(job.state)) ? BUSY_POLL_MS : IDLE_POLL_MS,
  });
  const active = (data?.data ?? []).filter((job) => ACTIVE_STATES.includes(job.state));
  if (active.length === 0) return null;
  return (
    <section aria-label="Work under way" className="border-b border-line bg-panel px-4 py-1.5">
      {active.map((job) => (
        <div key={job.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs">
          <span className="font-medium">{job.title}</span>
          <progress
            aria-label={job.title}
            className="h-1.5 w-48 accent-(--accent)"
            {...(job.total === null ? {} : { value: job.done, max: Math.max(1, job.total) })}
          />
          <span className="num text-ink-soft">
            {formatCount(job.done)}
            {job.total !== null && ` of ${formatCount(job.total)}`} {job.unit}
            {job.rate_per_second !== null && ` · ${formatCount(Math.round(job.rate_per_second))}/s`}
            {job.eta_seconds !== null && ` · ${formatDuration(job.eta_seconds * 1_000)} left`}
            {job.state !== 'running' && ` · ${job.state}`}
          </span>
        </div>
      ))}
    </section>
  );
}
