/** The state of the Prices page in the address: the tab, its window and filters, what is looked up, what is opened. */
import { readOneOf, readText, readTexts, readWindowSearch } from '../../search/list-search.ts';
import type { WindowSearch } from '../../search/time-window.ts';

export const TABS = ['unpriced', 'own', 'reprice', 'lookup', 'changes'] as const;
export type PricesTab = (typeof TABS)[number];

export const FORMS = ['override', 'mapping', 'multiplier'] as const;

export const USUAL_RANGE = '30d';
export const FIRST_TAB: PricesTab = 'unpriced';

export interface PricesSearch extends WindowSearch {
  readonly tab?: PricesTab | undefined;
  readonly f?: readonly string[] | undefined;
  readonly only?: 'all' | undefined;
  readonly job?: number | undefined;
  /** What is looked up, and what an opened form begins with. */
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly alias?: string | undefined;
  readonly at?: string | undefined;
  readonly add?: (typeof FORMS)[number] | undefined;
  /** Usage classes that the opened form should ask for, with commas. */
  readonly classes?: string | undefined;
}

function readJob(value: unknown): number | undefined {
  const job = Number(value);
  return Number.isSafeInteger(job) && job > 0 ? job : undefined;
}

export function readPricesSearch(raw: Readonly<Record<string, unknown>>): PricesSearch {
  return {
    tab: readOneOf(raw['tab'], TABS),
    ...readWindowSearch(raw),
    f: readTexts(raw['f']),
    only: raw['only'] === 'all' ? 'all' : undefined,
    job: readJob(raw['job']),
    provider: readText(raw['provider']),
    model: readText(raw['model']),
    alias: readText(raw['alias']),
    at: readText(raw['at']),
    add: readOneOf(raw['add'], FORMS),
    classes: readText(raw['classes']),
  };
}
