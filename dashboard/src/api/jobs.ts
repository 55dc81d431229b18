/** Long work on the server: its progress, and what can be done about it. */
import { queryOptions } from '@tanstack/react-query';
import type { JobBody } from '../../../src/control/admin/jobs-resource.ts';
import { getJson, sendJson } from './client.ts';

export type Job = JobBody;
export type JobState = Job['state'];

const ACTIVE_POLL_MS = 1_000;
const IDLE_POLL_MS = 15_000;

const ACTIVE: readonly JobState[] = ['queued', 'running', 'cancelling', 'stalled'];
const RESUMABLE: readonly JobState[] = ['paused', 'cancelled', 'failed'];
const CANCELLABLE: readonly JobState[] = ['queued', 'running', 'paused', 'stalled'];

export function isJobActive(state: JobState): boolean {
  return ACTIVE.includes(state);
}

export function isJobResumable(state: JobState): boolean {
  return RESUMABLE.includes(state);
}

export function isJobCancellable(state: JobState): boolean {
  return CANCELLABLE.includes(state);
}

export const jobsQuery = queryOptions({
  queryKey: ['jobs'],
  queryFn: ({ signal }) => getJson('/jobs', {}, signal),
  refetchInterval: ({ state }) =>
    (state.data?.data ?? []).some((job) => isJobActive(job.state)) ? ACTIVE_POLL_MS : IDLE_POLL_MS,
});

/** Asked again each second while it goes on, and not any more when it has ended. */
export function jobQuery(id: number) {
  return queryOptions({
    queryKey: ['jobs', id],
    queryFn: ({ signal }) => getJson('/jobs/{id}', { id }, signal),
    refetchInterval: ({ state }) =>
      state.data === undefined || isJobActive(state.data.state) ? ACTIVE_POLL_MS : false,
  });
}

export function cancelJob(id: number): Promise<unknown> {
  return sendJson('post', '/jobs/{id}/cancel', { id });
}

export function resumeJob(id: number): Promise<unknown> {
  return sendJson('post', '/jobs/{id}/resume', { id });
}
