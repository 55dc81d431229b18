/** The state of the Run page in the address. */
import { readOneOf, readText } from '../../search/list-search.ts';

export const RUN_VIEWS = ['waterfall', 'steps'] as const;
export const AXES = ['time', 'cost'] as const;
export const COLOURS = ['status', 'model', 'cost'] as const;
export const LEVELS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', 'all'] as const;

export type RunView = (typeof RUN_VIEWS)[number];
export type Axis = (typeof AXES)[number];
export type Colouring = (typeof COLOURS)[number];

export interface RunSearch {
  readonly trace?: string | undefined;
  /** What is selected: a request id, or the span key of a step; `/` is the run itself. */
  readonly sel?: string | undefined;
  readonly view?: RunView | undefined;
  readonly axis?: Axis | undefined;
  readonly color?: Colouring | undefined;
  readonly q?: string | undefined;
  /** `1`: only matches and what is above them. */
  readonly only?: '1' | undefined;
  /** Steps are open down to it; without it as many levels as fit. */
  readonly level?: (typeof LEVELS)[number] | undefined;
  /** `0`: repeats are not folded. */
  readonly fold?: '0' | undefined;
  /** `self`: the cost of a step is that of its own calls only. */
  readonly cost?: 'self' | undefined;
  readonly sort?: string | undefined;
}

export function readRunSearch(raw: Record<string, unknown>): RunSearch {
  return {
    trace: readText(raw['trace']),
    sel: readText(raw['sel']),
    view: readOneOf(raw['view'], RUN_VIEWS),
    axis: readOneOf(raw['axis'], AXES),
    color: readOneOf(raw['color'], COLOURS),
    q: readText(raw['q']),
    only: readOneOf(raw['only'], ['1']),
    level: readOneOf(raw['level'], LEVELS),
    fold: readOneOf(raw['fold'], ['0']),
    cost: readOneOf(raw['cost'], ['self']),
    sort: readText(raw['sort']),
  };
}
