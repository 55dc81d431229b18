/** The state of the Metadata page in the address. */
import { readText } from '../../search/list-search.ts';

export interface MetadataSearch {
  readonly tab?: string | undefined;
}

export function readMetadataSearch(raw: Record<string, unknown>): MetadataSearch {
  return { tab: readText(raw['tab']) };
}
