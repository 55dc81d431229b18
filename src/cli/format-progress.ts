import { formatCount, formatDuration } from '../vocabulary/format-amounts.ts';
import { terminalText } from './terminal-text.ts';

const BAR_CELLS = 10;

export interface JobProgress {
  readonly title: string;
  readonly phase: string;
  readonly done: number;
  readonly total: number | null;
  readonly unit: string;
  readonly rate_per_second: number | null;
  readonly eta_seconds: number | null;
  readonly state: string;
  readonly error: string | null;
}

export function shareDone({ done, total }: JobProgress): number | null {
  return total === null || total === 0 ? null : Math.min(1, done / total);
}

/** `Promote Feature  indexing older calls  ██████░░░░ 68 %  6.8M/10.0M calls  41.0k/s  1 m 18 s left` */
export function formatProgress(job: JobProgress): string {
  const share = shareDone(job);
  const parts = [terminalText(job.title), terminalText(job.phase)];
  if (share !== null) {
    const cells = Math.floor(share * BAR_CELLS);
    parts.push(`${'█'.repeat(cells)}${'░'.repeat(BAR_CELLS - cells)} ${Math.floor(share * 100)} %`);
  }
  const total = job.total === null ? '' : `/${formatCount(job.total)}`;
  parts.push(`${formatCount(job.done)}${total} ${terminalText(job.unit)}`);
  if (job.rate_per_second !== null) parts.push(`${formatCount(Math.round(job.rate_per_second))}/s`);
  if (job.eta_seconds !== null) parts.push(`${formatDuration(job.eta_seconds * 1_000)} left`);
  if (job.state === 'stalled') parts.push('stalled');
  if (job.error !== null) parts.push(`waits: ${terminalText(job.error)}`);
  return parts.join('  ');
}
