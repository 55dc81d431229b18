/** The state of the Run page in the address. */
import { readText } from '../../search/list-search.ts';

export interface RunSearch {
  /** The trace id. */
  readonly trace?: string | undefined;
  /** What is selected: a request id, or the span key of a step. */
  readonly sel?: string | undefined;
}

export function readRunSearch(raw: Record<string, unknown>): RunSearch {
  return { trace: readText(raw['trace']), sel: readText(raw['sel']) };
}
