/** The state of the Logs page in the address. */
import { type ListSearch, readListSearch, readText } from '../../search/list-search.ts';

export interface LogsSearch extends ListSearch {
  /** Ids of the columns in their order, with commas; absent: the usual ones. */
  readonly cols?: string | undefined;
  readonly exclude_runs?: 'true' | undefined;
  readonly tab?: string | undefined;
  readonly facets?: 'off' | undefined;
}

export function readLogsSearch(raw: Record<string, unknown>): LogsSearch {
  return {
    ...readListSearch(raw),
    cols: readText(raw['cols']),
    exclude_runs: raw['exclude_runs'] === 'true' ? 'true' : undefined,
    tab: readText(raw['tab']),
    facets: raw['facets'] === 'off' ? 'off' : undefined,
  };
}
