/** What costs can be grouped by: its name for people, the filter that finds a group's calls, the words for a value. */
import { formatFilter } from './filter-text.ts';

export interface Dimension {
  /** As in `group_by`. */
  readonly id: string;
  readonly label: string;
  readonly field: string;
}

const FIXED: readonly Dimension[] = [
  // Costs, groups and facets of runs count a call without an answer under the model it asked for.
  { id: 'model', label: 'Model', field: 'any_model' },
  { id: 'provider', label: 'Provider', field: 'provider' },
  { id: 'key', label: 'API key', field: 'key_id' },
  { id: 'endpoint', label: 'Endpoint', field: 'endpoint' },
  { id: 'span_path', label: 'Step', field: 'span_key' },
  { id: 'span_name', label: 'Span name', field: 'span_name' },
  { id: 'trace_id', label: 'Run', field: 'trace_id' },
  { id: 'client', label: 'Client', field: 'client' },
  { id: 'outcome', label: 'Outcome', field: 'outcome' },
];

const METADATA = 'metadata.';

export const VALUE_CHARACTERS = 200;

export const NOT_SET = '(not set)';
/** A call of a run that is in none of its steps, or of no run. */
export const NO_STEP = '(no step)';

export function isDimension(id: string): boolean {
  return FIXED.some((one) => one.id === id) || (id.startsWith(METADATA) && id.length > METADATA.length);
}

export function readDimension(id: string): Dimension {
  return FIXED.find((one) => one.id === id) ?? { id, label: id.slice(METADATA.length), field: id };
}

export function metadataKeyOf(id: string): string | null {
  return id.startsWith(METADATA) ? id.slice(METADATA.length) : null;
}

/** All choices: the fixed ones, then the given keys; the current one also when its key has not been seen lately. */
export function listDimensions(keys: readonly string[], current: readonly string[]): readonly Dimension[] {
  const dimensions = [...FIXED, ...keys.map((key) => readDimension(`${METADATA}${key}`))];
  const known = dimensions.map(({ id }) => id.toLowerCase());
  return [...dimensions, ...current.filter((id) => !known.includes(id.toLowerCase())).map(readDimension)];
}

/** As `group_by` takes it: a comma separates there, so that one in a key is written `%2C`. */
export function formatGroupBy(by: readonly string[]): string {
  return by.map((id) => id.replace(/[%,]/g, encodeURIComponent)).join(',');
}

/** Finds the calls of one group. A cut value can only be found by its beginning. */
export function groupFilters(by: readonly string[], group: readonly (string | null)[]): readonly string[] {
  return by.map((id, index) => {
    const { field } = readDimension(id);
    const value = group[index] ?? null;
    if (value === null) return formatFilter({ field, op: 'nohas', values: [] });
    return formatFilter({ field, op: [...value].length >= VALUE_CHARACTERS ? 'prefix' : 'eq', values: [value] });
  });
}

/** Gateway keys are known by number; people know them by name. */
export type KeyNames = ReadonlyMap<string, string>;

/** A key that was rotated shares its name with the new one: then the number tells them apart. */
export function nameKeys(keys: readonly { readonly id: number; readonly name: string }[]): KeyNames {
  const isShared = (name: string) => keys.filter((key) => key.name === name).length > 1;
  return new Map(keys.map(({ id, name }) => [String(id), isShared(name) ? `${name} (key ${id})` : name]));
}

/** A step's path as people write it; a cut one may end within an escape, and then stays as it is. */
function describeStep(path: string): string {
  try {
    return path.split('/').map(decodeURIComponent).join(' / ');
  } catch {
    return path;
  }
}

export function describeValue(id: string, value: string | null, keyNames: KeyNames): string {
  if (value === null) return id === 'span_path' ? NO_STEP : NOT_SET;
  if (id === 'span_path') return describeStep(value);
  if (id === 'key') return keyNames.get(value) ?? `key ${value}`;
  return value === '' ? '(empty)' : value;
}

export function describeGroup(
  by: readonly string[],
  group: readonly (string | null)[],
  keyNames: KeyNames,
): readonly string[] {
  return by.map((id, index) => describeValue(id, group[index] ?? null, keyNames));
}

/** One text for a group, for addresses and as a React key; two groups never share it. */
export function groupKey(group: readonly (string | null)[]): string {
  return group.map((value) => (value === null ? '-' : `=${encodeURIComponent(value.toWellFormed())}`)).join('|');
}

export function isNotSet(group: readonly (string | null)[]): boolean {
  return group.every((value) => value === null);
}
