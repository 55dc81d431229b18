/**
 * How a series looks: a colour fixed by its name, so that a model keeps it on every page, and a pattern, since colour
 * alone says nothing to many eyes. Two series of one drawing never share both.
 */

/** Colours of `styles.css`: `--series-1` to `--series-8`. */
const COLOURS = 8;
export const PATTERNS = ['solid', 'diagonal', 'dots', 'horizontal', 'back-diagonal', 'vertical'] as const;
export type Pattern = (typeof PATTERNS)[number];

export interface SeriesLook {
  /** Name of the CSS variable. */
  readonly colour: string;
  readonly pattern: Pattern;
}

/** FNV-1a, 32 bits, its bits mixed once more (names differ mostly in few characters): the same in every browser. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) {
    value ^= character.codePointAt(0) ?? 0;
    value = Math.imul(value, 0x01000193) >>> 0;
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

export function seriesLook(name: string): SeriesLook {
  const value = hash(name);
  return {
    colour: `--series-${(value % COLOURS) + 1}`,
    pattern: PATTERNS[(value >>> 8) % PATTERNS.length] ?? 'solid',
  };
}

/** In the order of the names. A colour stays; a pattern that is taken in that colour makes way for the next one. */
export function seriesLooks(names: readonly string[]): readonly SeriesLook[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const { colour, pattern } = seriesLook(name);
    const first = PATTERNS.indexOf(pattern);
    const candidates = PATTERNS.map((_, step) => PATTERNS[(first + step) % PATTERNS.length] ?? pattern);
    const free = candidates.find((candidate) => !taken.has(`${colour} ${candidate}`)) ?? pattern;
    taken.add(`${colour} ${free}`);
    return { colour, pattern: free };
  });
}
