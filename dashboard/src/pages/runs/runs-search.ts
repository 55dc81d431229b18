/** The state of the Runs page in the address. */
import { type ListSearch, readListSearch } from '../../search/list-search.ts';

export type RunsSearch = ListSearch;

export function readRunsSearch(raw: Record<string, unknown>): RunsSearch {
  return readListSearch(raw);
}
