/**
 * Which siblings are repeats of one thing: numbered steps of one stem (`search 1`, `search 2`, …), and many calls of one
 * name and model. Only says who belongs together; sums are the caller's, and no fold changes one.
 */

export const MIN_FOLDED_STEPS = 4;
export const MIN_FOLDED_CALLS = 8;

const CLOSERS = '])}';
const SEPARATORS = ' \t#_.:-([{';
const DIGITS = '0123456789';

/** The end of the text without the characters of a set at its end. Not a regular expression: names are foreign. */
function endWithout(text: string, end: number, set: string): number {
  let at = end;
  while (at > 0 && set.includes(text.charAt(at - 1))) at -= 1;
  return at;
}

/**
 * The stem of a numbered name (`search` of `search 1`, `search#2`, `search[3]`, `search-4`; empty for a bare number);
 * null for a name that does not end in a number.
 */
export function readStem(name: string): string | null {
  const closed = endWithout(name, name.length, CLOSERS);
  const numbered = endWithout(name, closed, DIGITS);
  return numbered === closed ? null : name.slice(0, endWithout(name, numbered, SEPARATORS));
}

export interface Repeats<Item> {
  readonly stem: string;
  readonly items: readonly Item[];
}

/**
 * Siblings in their order: single items stay, repeats come as one group in the place of their first item. `stemOf` says
 * what an item is a repeat of; null for one that never folds.
 */
export function foldSiblings<Item>(
  items: readonly Item[],
  stemOf: (item: Item) => { readonly stem: string; readonly minimum: number; readonly label: string } | null,
): readonly (Item | Repeats<Item>)[] {
  const groups = new Map<string, { readonly label: string; readonly minimum: number; readonly items: Item[] }>();
  const keys = items.map((item) => {
    const found = stemOf(item);
    if (found === null) return null;
    const group = groups.get(found.stem);
    if (group === undefined) groups.set(found.stem, { label: found.label, minimum: found.minimum, items: [item] });
    else group.items.push(item);
    return found.stem;
  });
  const placed = new Set<string>();
  const folded: (Item | Repeats<Item>)[] = [];
  for (const [index, item] of items.entries()) {
    const key = keys[index] ?? null;
    const group = key === null ? undefined : groups.get(key);
    if (key === null || group === undefined || group.items.length < group.minimum) folded.push(item);
    else if (!placed.has(key)) {
      placed.add(key);
      folded.push({ stem: group.label, items: group.items });
    }
  }
  return folded;
}
