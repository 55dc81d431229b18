/** The state of the Start page in the address. */
import { readText } from '../../search/list-search.ts';

export interface StartSearch {
  readonly tab?: string | undefined;
}

export function readStartSearch(raw: Record<string, unknown>): StartSearch {
  return { tab: readText(raw['tab']) };
}
