/** The window of a page as instants. They stay the same until the range changes or the page is refreshed. */
import { useMemo } from 'react';
import { usePreferences } from '../preferences.tsx';
import { useRefresh } from '../refresh.tsx';
import { type RangeName, resolveWindow, type TimeWindow, type WindowSearch } from './time-window.ts';

export function useTimeWindow(search: WindowSearch, usual?: RangeName): TimeWindow {
  const { timeZone } = usePreferences();
  const { round } = useRefresh();
  const { range, from, to } = search;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` says when "now" is read again
  return useMemo(
    () => resolveWindow({ range, from, to }, Date.now(), timeZone, usual),
    [range, from, to, timeZone, usual, round],
  );
}
