/** The state of the Costs page in the address. */
import { readText } from '../../search/list-search.ts';

export interface CostsSearch {
  readonly by?: string | undefined;
}

export function readCostsSearch(raw: Record<string, unknown>): CostsSearch {
  return { by: readText(raw['by']) };
}
