/** What the Logs page asks, read from its address. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { type LogsQuestion, logsFacetsQuery } from '../../api/logs.ts';
import { useAllowed } from '../../app/session-context.tsx';
import { usePreferences } from '../../preferences.tsx';
import { resolveWindow } from '../../search/time-window.ts';
import { useTimeWindow } from '../../search/use-time-window.ts';
import type { LogsSearch } from './logs-search.ts';

const NO_FILTERS: readonly string[] = [];

export function useLogsQuestion(search: LogsSearch): LogsQuestion {
  const { from, to } = useTimeWindow(search);
  const { f = NO_FILTERS, q, exclude_runs } = search;
  return useMemo(() => ({ from, to, f, q, excludeRuns: exclude_runs === 'true' }), [from, to, f, q, exclude_runs]);
}

const SUMS_MS = 10_000;

/** While live is on, the window of the sums moves on with the clock; that of the list must not, or it would jump. */
export function useSumsQuestion(search: LogsSearch, question: LogsQuestion, isLive: boolean): LogsQuestion {
  const { timeZone } = usePreferences();
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    if (!isLive) return;
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), SUMS_MS);
    return () => clearInterval(timer);
  }, [isLive]);
  const { range, from, to } = search;
  return useMemo(
    () => (isLive ? { ...question, ...resolveWindow({ range, from, to }, nowMs, timeZone) } : question),
    [question, isLive, range, from, to, nowMs, timeZone],
  );
}

/** The keys that stand among the facets are the promoted ones. */
export function usePromotedKeys(question: LogsQuestion): readonly string[] {
  const { data } = useQuery({ ...logsFacetsQuery(question), enabled: useAllowed('viewer') });
  return useMemo(
    () =>
      (data?.data ?? [])
        .filter(({ column }) => column.startsWith('metadata.'))
        .map(({ column }) => column.slice('metadata.'.length)),
    [data],
  );
}
