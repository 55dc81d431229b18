/** A filter that a cell or a facet asks for: the same again takes it out, and its opposite gives way. */
import { formatFilter, parseFilter, toggleFilter } from '../../search/filter-text.ts';

const OPPOSITES: Readonly<Record<string, string>> = { eq: 'ne', ne: 'eq', has: 'nohas', nohas: 'has' };

export function changeFilters(filters: readonly string[], filter: string): readonly string[] {
  const { field, op, values } = parseFilter(filter);
  const opposite = Object.hasOwn(OPPOSITES, op) ? OPPOSITES[op] : undefined;
  const kept =
    opposite === undefined ? filters : filters.filter((one) => one !== formatFilter({ field, op: opposite, values }));
  return toggleFilter(kept, filter);
}
