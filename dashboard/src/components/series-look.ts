/**
 * How a series looks: a colour by its name, so that a model mostly keeps it on every page, and a pattern, since colour
 * alone says nothing to many eyes. Two series of one drawing never share both.
 */

/** Colours of `styles.css`: `--series-1` to `--series-8`. */
const COLOURS = 8;
const COLOUR_PREFIX = '--series-';
export const PATTERNS = ['solid', 'diagonal', 'dots', 'horizontal', 'back-diagonal', 'vertical'] as const;
export type Pattern = (typeof PATTERNS)[number];

export interface SeriesLook {
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
    colour: `${COLOUR_PREFIX}${(value % COLOURS) + 1}`,
    pattern: PATTERNS[(value >>> 8) % PATTERNS.length] ?? 'solid',
  };
}

/**
 * In the order of the names: whose colour is taken gets the next free one, and when all are taken the next free pattern
 * of its own. So up to eight series differ by colour, and a name alone keeps its own.
 */
export function seriesLooks(names: readonly string[]): readonly SeriesLook[] {
  const takenColours = new Set<string>();
  const takenLooks = new Set<string>();
  return names.map((name) => {
    const own = seriesLook(name);
    const first = Number(own.colour.slice(COLOUR_PREFIX.length)) - 1;
    const colours = Array.from({ length: COLOURS }, (_, step) => `${COLOUR_PREFIX}${((first + step) % COLOURS) + 1}`);
    const colour = colours.find((candidate) => !takenColours.has(candidate)) ?? own.colour;
    const firstPattern = PATTERNS.indexOf(own.pattern);
    const patterns = PATTERNS.map((_, step) => PATTERNS[(firstPattern + step) % PATTERNS.length] ?? own.pattern);
    const pattern = patterns.find((candidate) => !takenLooks.has(`${colour} ${candidate}`)) ?? own.pattern;
    takenColours.add(colour);
    takenLooks.add(`${colour} ${pattern}`);
    return { colour, pattern };
  });
}
