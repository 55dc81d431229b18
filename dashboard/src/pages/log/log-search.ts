/** The state of the Log page in the address. */
import { readText } from '../../search/list-search.ts';

export interface LogSearch {
  readonly tab?: string | undefined;
}

export function readLogSearch(raw: Record<string, unknown>): LogSearch {
  return { tab: readText(raw['tab']) };
}
