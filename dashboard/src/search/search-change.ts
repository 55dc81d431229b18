/** A change of a page's address: parts that are set, or a function of what the address has by then. */
import type { FiltersChange } from './filter-text.ts';

/**
 * With a function whatever depends on what is set already: what a page shows lags behind the address, so that two quick
 * clicks would start from the same.
 */
export type SearchChange<S> = Partial<S> | ((before: S) => Partial<S>);

export function applyChange<S extends object>(before: S, change: SearchChange<S>): S {
  return { ...before, ...(typeof change === 'function' ? change(before) : change) };
}

interface Filtered {
  readonly f?: readonly string[] | undefined;
}

/** An address without filters has no `f`. */
export function changeOfFilters(change: FiltersChange): (before: Filtered) => Filtered {
  return ({ f = [] }) => {
    const next = change(f);
    return { f: next.length === 0 ? undefined : next };
  };
}
