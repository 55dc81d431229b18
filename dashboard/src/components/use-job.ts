/** Follows one job to its end, and lets the cache forget what it changed when it has ended. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { isJobActive, type Job, type JobState, jobQuery } from '../api/jobs.ts';

interface FollowedJob {
  readonly id: number | null;
  /** First words of the query keys whose answers are different once the job has ended. */
  readonly changes: readonly string[];
  /** What the page believes: if the job has ended by then, the page's answer is old, too. */
  readonly isUnderWay: boolean;
}

export function useJob({ id, changes, isUnderWay }: FollowedJob): Job | null {
  const queries = useQueryClient();
  const { data } = useQuery({ ...jobQuery(id ?? 0), enabled: id !== null });
  // While the next job's answer is on its way, the cache still shows the one before.
  const job = data !== undefined && data.id === id ? data : null;
  const state = job?.state ?? null;
  const before = useRef<JobState | null>(null);
  const names = changes.join(',');
  useEffect(() => {
    const hasEnded = state !== null && !isJobActive(state);
    const isNews = before.current !== null && before.current !== state;
    before.current = state;
    if (!hasEnded || !(isNews || isUnderWay)) return;
    for (const name of names.split(',')) void queries.invalidateQueries({ queryKey: [name] });
  }, [state, isUnderWay, names, queries]);
  return job;
}
