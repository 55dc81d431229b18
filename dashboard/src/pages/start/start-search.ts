/** The state of the Get started page in the address. */
import { readText } from '../../search/list-search.ts';

export interface StartSearch {
  /** Id of the client whose snippet is shown. */
  readonly client?: string | undefined;
  readonly metadata?: '1' | undefined;
  readonly run?: '1' | undefined;
}

export function readStartSearch(raw: Record<string, unknown>): StartSearch {
  return {
    client: readText(raw['client']),
    metadata: raw['metadata'] === '1' ? '1' : undefined,
    run: raw['run'] === '1' ? '1' : undefined,
  };
}
