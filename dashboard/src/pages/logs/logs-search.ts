/** The state of the Logs page in the address. */
import { type ListSearch, readListSearch } from '../../search/list-search.ts';

export type LogsSearch = ListSearch;

export function readLogsSearch(raw: Record<string, unknown>): LogsSearch {
  return readListSearch(raw);
}
