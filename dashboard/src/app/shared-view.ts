/** Where the dashboard shows what a share link is about. */
import type { Session } from '../api/session.ts';
import { type RawSearch, stringifySearch } from '../search/search-params.ts';

export type SharedView = NonNullable<Session['shared']>;

/** What of the page's address the link decides; undefined: it must not be there. */
function readOwnSearch({ page, parameters }: SharedView): RawSearch {
  const one = (name: string) => parameters[name]?.[0];
  if (page === 'run') return { trace: one('trace_id') };
  const window = { from: one('from'), to: one('to'), range: undefined, f: parameters['f'] };
  if (page === 'costs') {
    const [by, by2] = (one('group_by') ?? '').split(',').map(decodeURIComponent);
    return { ...window, by, by2 };
  }
  const list = { ...window, q: one('q'), facets: 'off', live: undefined };
  return page === 'logs'
    ? { ...list, exclude_runs: one('exclude_runs') }
    : { ...list, group: undefined, peek: undefined };
}

/** Null when the address shows it already; else where to go, with what the visitor chose of the rest. */
export function findSharedAddress(
  view: SharedView,
  pathname: string,
  search: Readonly<Record<string, unknown>>,
): string | null {
  const own = readOwnSearch(view);
  const isThere = pathname === `/${view.page}`;
  const isOwn = Object.entries(own).every(([name, value]) => JSON.stringify(search[name]) === JSON.stringify(value));
  if (isThere && isOwn) return null;
  return `/${view.page}${stringifySearch({ ...(isThere ? search : {}), ...own })}`;
}
