/** The state of a list page as it stands in the address: window of time, filters, text, order, what is open. */
import { readTime } from './read-time.ts';
import { isRangeName, type WindowSearch } from './time-window.ts';

export interface ListSearch extends WindowSearch {
  readonly f?: readonly string[] | undefined;
  readonly q?: string | undefined;
  readonly sort?: string | undefined;
  readonly peek?: string | undefined;
  /** `1`: new rows come by themselves. */
  readonly live?: '1' | undefined;
}

/** Every browser reads these alike; a date alone is UTC to it. */
const IS_UNAMBIGUOUS = /^\d{4}-\d{2}-\d{2}(?:T.*(?:Z|[+-]\d{2}:\d{2}))?$/;

export function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function readTexts(value: unknown): readonly string[] | undefined {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  const texts = values.filter((one) => typeof one === 'string' && one !== '').map(String);
  return texts.length === 0 ? undefined : texts;
}

export function readOneOf<T extends string>(value: unknown, choices: readonly T[]): T | undefined {
  return choices.find((choice) => choice === value);
}

/** As in the API a time without a zone is UTC: an address means the same to everybody. Other texts stay as they are. */
function readInstant(value: unknown): string | undefined {
  const text = readText(value);
  const atMs = text === undefined ? null : readTime(text, 'UTC');
  if (text === undefined || atMs === null) return undefined;
  return IS_UNAMBIGUOUS.test(text) ? text : new Date(atMs).toISOString();
}

/** What cannot be read is left out: an address from elsewhere never breaks the page. */
export function readWindowSearch(raw: Readonly<Record<string, unknown>>): WindowSearch {
  const range = raw['range'];
  const from = readInstant(raw['from']);
  return { range: from === undefined && isRangeName(range) ? range : undefined, from, to: readInstant(raw['to']) };
}

export function readListSearch(raw: Readonly<Record<string, unknown>>): ListSearch {
  return {
    ...readWindowSearch(raw),
    f: readTexts(raw['f']),
    q: readText(raw['q']),
    sort: readText(raw['sort']),
    peek: readText(raw['peek']),
    live: readOneOf(raw['live'], ['1']),
  };
}
