/**
 * The window of a page as instants. They stay the same until the range changes, the page is refreshed, or live goes on or
 * off: what came while it was on would lie behind the end of a window from before.
 */
import { useMemo } from 'react';
import { usePreferences } from '../preferences.tsx';
import { useRefresh } from '../refresh.tsx';
import { type RangeName, resolveWindow, type TimeWindow, type WindowSearch } from './time-window.ts';

interface LiveSearch extends WindowSearch {
  readonly live?: '1' | undefined;
}

export function useTimeWindow(search: LiveSearch, usual?: RangeName): TimeWindow {
  const { timeZone } = usePreferences();
  const { round } = useRefresh();
  const { range, from, to, live } = search;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` and `live` say when "now" is read again
  return useMemo(
    () => resolveWindow({ range, from, to }, Date.now(), timeZone, usual),
    [range, from, to, timeZone, usual, round, live],
  );
}
