/** Filters that somebody typed or pasted into one line: their texts with spaces between, or an address that has them. */
import { isLogColumn } from '../../../src/control/store/log-columns.ts';
import { parseSearch } from './search-params.ts';

/** How an address or its query begins, and no filter does. */
const ADDRESS = /^(?:\?|\/|https?:\/\/|\w+=)/;
/** The beginning of a filter behind a space: a value may have spaces, and a key of metadata too. */
const NEXT =
  /\s+(?=(?<field>metadata\.[^:]+|run\.[a-z_]+|[a-z_]+):(?:eq|ne|in|nin|gt|gte|lt|lte|has|nohas|prefix|contains)(?::|\s|$))/g;

function isField(name: string): boolean {
  return name === 'any_model' || name.startsWith('metadata.') || name.startsWith('run.') || isLogColumn(name);
}

function splitTyped(text: string): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  for (const match of text.matchAll(NEXT)) {
    if (!isField(match.groups?.['field'] ?? '')) continue;
    parts.push(text.slice(from, match.index));
    from = match.index;
  }
  return [...parts, text.slice(from)];
}

function readAddress(text: string): readonly string[] {
  const query = text.replace(/^[^\s?]*\?/, '').replace(/#.*$/, '');
  const { f = [] } = parseSearch(query.trim().replaceAll(/\s+(?=f=)/g, '&'));
  return typeof f === 'string' ? [f] : f;
}

export function readTypedFilters(text: string): readonly string[] {
  const filters = ADDRESS.test(text.trim()) ? readAddress(text.trim()) : splitTyped(text);
  return [...new Set(filters.map((one) => one.trim()).filter((one) => one !== ''))];
}
