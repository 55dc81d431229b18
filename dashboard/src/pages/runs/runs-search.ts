/** The state of the Runs page in the address. */
import { type ListSearch, readListSearch, readOneOf, readText } from '../../search/list-search.ts';

export interface RunsSearch extends ListSearch {
  /** `model`, `provider`, `key` or `metadata.Key`: calls of runs in groups instead of the runs. */
  readonly group?: string | undefined;
  readonly facets?: 'off' | undefined;
}

const GROUP = /^(?:model|provider|key|metadata\..+)$/s;

export function readRunsSearch(raw: Record<string, unknown>): RunsSearch {
  const group = readText(raw['group']);
  return {
    ...readListSearch(raw),
    group: group !== undefined && GROUP.test(group) ? group : undefined,
    facets: readOneOf(raw['facets'], ['off']),
  };
}
