/**
 * The calls that came while one looks: shown on top, or held back while one reads further down. Their number is bounded:
 * beyond it the older calls are let go, and the page says so.
 */
import type { ListedLog } from '../../api/logs.ts';

export const MAX_LIVE_ROWS = 500;

export interface LiveRows {
  /** Newest first. */
  readonly shown: readonly ListedLog[];
  /** Newest first; newer than all that are shown. */
  readonly held: readonly ListedLog[];
  /** More came than are kept: there is a gap between these and the list. */
  readonly hasGap: boolean;
}

export const NO_LIVE_ROWS: LiveRows = { shown: [], held: [], hasGap: false };

/** `arrived` in the order of arrival. A call that is there already (a resumed stream) is not added again. */
export function addLiveRows(live: LiveRows, arrived: readonly ListedLog[], isHolding: boolean): LiveRows {
  const known = new Set([...live.held, ...live.shown].map(({ id }) => id));
  const fresh: ListedLog[] = [];
  for (const row of arrived) {
    if (known.has(row.id)) continue;
    known.add(row.id);
    fresh.unshift(row);
  }
  if (fresh.length === 0) return live;
  if (isHolding) {
    const held = [...fresh, ...live.held];
    return {
      shown: live.shown,
      held: held.slice(0, MAX_LIVE_ROWS),
      hasGap: live.hasGap || held.length > MAX_LIVE_ROWS,
    };
  }
  return showAll({ ...live, held: [...fresh, ...live.held] });
}

/** Puts what was held back on top. */
export function showAll({ shown, held, hasGap }: LiveRows): LiveRows {
  const all = [...held, ...shown];
  return { shown: all.slice(0, MAX_LIVE_ROWS), held: [], hasGap: hasGap || all.length > MAX_LIVE_ROWS };
}

/** What the table shows. With a gap only the live rows, so that nothing seems to follow what does not. */
export function joinRows(live: LiveRows, listed: readonly ListedLog[]): readonly ListedLog[] {
  if (live.hasGap) return live.shown;
  if (live.shown.length === 0) return listed;
  const known = new Set(listed.map(({ id }) => id));
  return [...live.shown.filter(({ id }) => !known.has(id)), ...listed];
}
