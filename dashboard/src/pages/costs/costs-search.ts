/** The state of the Costs page in the address. */
import { readText } from '../../search/list-search.ts';

export interface CostsSearch {
  readonly tab?: string | undefined;
}

export function readCostsSearch(raw: Record<string, unknown>): CostsSearch {
  return { tab: readText(raw['tab']) };
}
