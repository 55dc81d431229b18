/** Follows one job to its end, and lets the cache forget what it changed when it has ended. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { isJobActive, type Job, jobQuery } from '../api/jobs.ts';

/** `changes`: first words of the query keys whose answers are different once the job has ended. */
export function useJob(id: string | null, changes: readonly string[]): Job | null {
  const queries = useQueryClient();
  const { data } = useQuery({ ...jobQuery(id ?? ''), enabled: id !== null });
  // While the next job's answer is on its way, the cache still shows the one before.
  const job = data !== undefined && data.id === id ? data : null;
  const isActive = job === null ? null : isJobActive(job.state);
  const wasActive = useRef(false);
  const names = changes.join(',');
  useEffect(() => {
    if (wasActive.current && isActive === false)
      for (const name of names.split(',')) void queries.invalidateQueries({ queryKey: [name] });
    wasActive.current = isActive === true;
  }, [isActive, names, queries]);
  return job;
}
