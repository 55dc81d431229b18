/** What the page asks: the window as instants, filters and text. While live is on the window moves on with the clock. */
import { useEffect, useMemo, useState } from 'react';
import type { RunsQuestion } from '../../api/runs.ts';
import { usePreferences } from '../../preferences.tsx';
import { resolveWindow } from '../../search/time-window.ts';
import { useTimeWindow } from '../../search/use-time-window.ts';
import type { RunsSearch } from './runs-search.ts';

/** An open window ends a minute ahead of the clock: it must be read anew before that is over. */
const MOVE_MS = 45_000;
const NO_FILTERS: readonly string[] = [];

export function useRunsQuestion(search: RunsSearch): RunsQuestion {
  const still = useTimeWindow(search);
  const { timeZone } = usePreferences();
  const isLive = search.live === '1';
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    if (!isLive) return;
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), MOVE_MS);
    return () => clearInterval(timer);
  }, [isLive]);
  const { range, from, to, f = NO_FILTERS, q } = search;
  return useMemo(() => {
    const window = isLive ? resolveWindow({ range, from, to }, nowMs, timeZone) : still;
    return { ...window, f, q };
  }, [isLive, range, from, to, nowMs, timeZone, still, f, q]);
}
