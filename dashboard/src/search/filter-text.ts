/** A filter in its text form, `column:op:value[,value]`, to its parts and back: the grammar of the API, for the chips. */

export interface FilterParts {
  /** A column, `metadata.Key`, or `run.<column>`. */
  readonly field: string;
  readonly op: string;
  readonly values: readonly string[];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Comma, colon and percent sign mean something in the text form; the rest stays readable. */
function encode(text: string): string {
  return text.replace(/[%,:]/g, (character) => encodeURIComponent(character));
}

export function formatFilter({ field, op, values }: FilterParts): string {
  const name = field.startsWith('metadata.') ? `metadata.${encode(field.slice('metadata.'.length))}` : field;
  return op === 'has' || op === 'nohas' ? `${name}:${op}` : `${name}:${op}:${values.map(encode).join(',')}`;
}

export function parseFilter(text: string): FilterParts {
  const [name = '', op = '', ...rest] = text.split(':');
  const field = name.startsWith('metadata.') ? `metadata.${decode(name.slice('metadata.'.length))}` : name;
  const values = rest.length === 0 ? [] : rest.join(':').split(',').map(decode);
  return { field, op, values };
}

const OP_SIGNS: Readonly<Record<string, string>> = {
  eq: '=',
  ne: '≠',
  in: 'is one of',
  nin: 'is none of',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
  has: 'is set',
  nohas: 'is not set',
  prefix: 'begins with',
  contains: 'contains',
};

/** Fields whose names say too little. */
const FIELD_WORDS: Readonly<Record<string, string>> = { any_model: 'model or requested model' };

/** `model = gpt-4o-mini`, for a chip. */
export function describeFilter(text: string): string {
  const { field, op, values } = parseFilter(text);
  const name = (Object.hasOwn(FIELD_WORDS, field) ? (FIELD_WORDS[field] ?? field) : field)
    .replace(/^metadata\./, '')
    .replace(/^run\./, 'run ')
    .replaceAll('_', ' ');
  return [name, OP_SIGNS[op] ?? op, values.join(', ')].filter((part) => part !== '').join(' ');
}

/**
 * What a click does to the filters that hold by then. The page still shows those of before while the address is on its
 * way, so that a second click must not start from what is shown.
 */
export type FiltersChange = (before: readonly string[]) => readonly string[];

export function withoutFilter(filters: readonly string[], filter: string): readonly string[] {
  return filters.filter((one) => one !== filter);
}

export function addFilter(filters: readonly string[], filter: string): readonly string[] {
  return [...withoutFilter(filters, filter), filter];
}

export function toggleFilter(filters: readonly string[], filter: string): readonly string[] {
  return filters.includes(filter) ? withoutFilter(filters, filter) : [...filters, filter];
}

/** Null: the calls in which the field is not set. */
export function filterByValue(field: string, value: string | null, isWanted = true): string {
  if (value === null) return formatFilter({ field, op: isWanted ? 'nohas' : 'has', values: [] });
  return formatFilter({ field, op: isWanted ? 'eq' : 'ne', values: [value] });
}

/** Adds a filter or takes it out, as `toggleFilter`; its opposite gives way. */
const OPPOSITES: Readonly<Record<string, string>> = { eq: 'ne', ne: 'eq', has: 'nohas', nohas: 'has' };

export function changeFilters(filters: readonly string[], filter: string): readonly string[] {
  const { field, op, values } = parseFilter(filter);
  const opposite = Object.hasOwn(OPPOSITES, op) ? OPPOSITES[op] : undefined;
  const kept =
    opposite === undefined ? filters : filters.filter((one) => one !== formatFilter({ field, op: opposite, values }));
  return toggleFilter(kept, filter);
}
