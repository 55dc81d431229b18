/** The state of the Metadata keys page in the address: its window of time. */
import { readListSearch } from '../../search/list-search.ts';
import type { WindowSearch } from '../../search/time-window.ts';

export type MetadataSearch = WindowSearch;

export const USUAL_RANGE = '7d';

export function readMetadataSearch(raw: Readonly<Record<string, unknown>>): MetadataSearch {
  const { range, from, to } = readListSearch(raw);
  return { range, from, to };
}
