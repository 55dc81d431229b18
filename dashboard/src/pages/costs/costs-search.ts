/** The state of the Costs page in the address: what is grouped, over which time, how it is shown. */

import { isDimension } from '../../search/dimensions.ts';
import { readOneOf, readText, readTexts, readWindowSearch } from '../../search/list-search.ts';
import type { WindowSearch } from '../../search/time-window.ts';

export const INTERVALS = ['auto', 'hour', 'day', 'week', 'month'] as const;
export const LIMITS = [5, 10, 20, 50, 100, 200] as const;
export const METRICS = ['cost', 'calls'] as const;

export type Interval = (typeof INTERVALS)[number];
export type Metric = (typeof METRICS)[number];

export const USUAL_RANGE = '7d';
export const USUAL_BY = 'model';
export const USUAL_LIMIT = 20;

/** Absent is the usual: model, auto, 20 groups, cost, a drawing. */
export interface CostsSearch extends WindowSearch {
  readonly f?: readonly string[] | undefined;
  readonly by?: string | undefined;
  readonly by2?: string | undefined;
  readonly interval?: Interval | undefined;
  readonly limit?: number | undefined;
  readonly metric?: Metric | undefined;
  readonly view?: 'table' | undefined;
  readonly only?: string | undefined;
}

function readDimension(value: unknown): string | undefined {
  const text = readText(value);
  return text !== undefined && isDimension(text) ? text : undefined;
}

export function readCostsSearch(raw: Readonly<Record<string, unknown>>): CostsSearch {
  const by = readDimension(raw['by']);
  const by2 = readDimension(raw['by2']);
  return {
    ...readWindowSearch(raw),
    f: readTexts(raw['f']),
    by,
    by2: by2 === (by ?? USUAL_BY) ? undefined : by2,
    interval: readOneOf(raw['interval'], INTERVALS),
    limit: LIMITS.find((limit) => String(limit) === String(raw['limit'])),
    metric: readOneOf(raw['metric'], METRICS),
    view: raw['view'] === 'table' ? 'table' : undefined,
    only: readText(raw['only']),
  };
}

/** What one of the controls says, read as from the address. What was isolated belongs to the old groups. */
export function changeControl(before: CostsSearch, raw: Readonly<Record<string, unknown>>): CostsSearch {
  return { ...readCostsSearch({ ...before, ...raw }), only: undefined };
}
