/**
 * The grams of a text, by which the index knows it: every three characters in a row, every five letters or digits in a
 * row, and every two of Chinese and the scripts after it, which write a word with two. A text that contains another one has all of its grams. Grams are hashed to 32 bits, lines count by themselves,
 * and a whole text can be a gram too.
 */
import { foldText } from './fold-text.ts';

/** More of a stretch are not told apart: it is looked into by every search. */
export const MAX_GRAMS = 1 << 16;
/** Half full at most, so that a place is found quickly. */
const PLACES = MAX_GRAMS * 2;
/** What repeats itself is a whole text or line mostly. */
const MAX_KNOWN = 20_000;

export interface GramSet {
  readonly add: (text: string) => void;
  /** A text that is only found as a whole. */
  readonly addWhole: (text: string) => void;
  /** In no order; null for more than `MAX_GRAMS`. The set is empty afterwards. */
  readonly take: () => Uint32Array | null;
}

export function createGramSet(): GramSet {
  const places = new Uint32Array(PLACES);
  const found = new Uint32Array(MAX_GRAMS);
  const knownTexts = new Set<string>();
  const knownLines = new Set<string>();
  let count = 0;
  let isSaturated = false;

  function note(hash: number): void {
    let place = hash & (PLACES - 1);
    for (;;) {
      const there = places[place];
      if (there === hash) return;
      if (there === 0) break;
      place = (place + 1) & (PLACES - 1);
    }
    if (count === MAX_GRAMS) {
      isSaturated = true;
      return;
    }
    places[place] = hash;
    found[count] = hash;
    count += 1;
  }

  return {
    add(text) {
      if (knownTexts.has(text)) return;
      if (knownTexts.size < MAX_KNOWN) knownTexts.add(text);
      for (const line of foldText(text).split('\n')) {
        if (isSaturated || knownLines.has(line)) continue;
        if (knownLines.size < MAX_KNOWN) knownLines.add(line);
        forEachGram(line, note);
      }
    },
    addWhole: (text) => note(wholeGram(text)),
    take() {
      const taken = isSaturated ? null : found.slice(0, count);
      places.fill(0);
      knownTexts.clear();
      knownLines.clear();
      count = 0;
      isSaturated = false;
      return taken;
    },
  };
}

/** Zero marks a free place. */
function hashOf(mixed: number): number {
  const hash = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) >>> 0 || 1;
}

/** Letters and digits of the scripts that divide words by spaces; elsewhere three characters tell enough apart. */
function isInWord(character: number): boolean {
  return (
    (character >= 0x61 && character <= 0x7a) ||
    (character >= 0x30 && character <= 0x39) ||
    character === 0x5f ||
    (character >= 0xc0 && character < 0xe00)
  );
}

const LONG_GRAM = 5;
/** Chinese, Japanese and Korean characters, and pictures, begin here. */
const EAST = 0x2e80;

function forEachGram(line: string, note: (hash: number) => void): void {
  let first = 0;
  let second = 0;
  let characters = 0;
  let inWord = 0;
  // The mixed three characters that end one and two characters before.
  let before = 0;
  let beforeThat = 0;
  for (let index = 0; index < line.length; index += 1) {
    let third = line.charCodeAt(index);
    if (third >= 0xd800 && third < 0xdc00) {
      third = line.codePointAt(index) ?? third;
      if (third > 0xffff) index += 1;
    }
    characters += 1;
    const mixed = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca77) ^ Math.imul(third, 0xc2b2ae3d);
    if (characters >= 3) note(hashOf(mixed));
    if (third >= EAST && second >= EAST) note(hashOf(Math.imul(second, 0x1b873593) + Math.imul(third, 0xcc9e2d51)));
    inWord = isInWord(third) ? inWord + 1 : 0;
    if (inWord >= LONG_GRAM) note(hashOf(Math.imul(beforeThat, 0x27d4eb2f) + mixed));
    beforeThat = before;
    before = mixed;
    first = second;
    second = third;
  }
}

function wholeGram(text: string): number {
  let mixed = 0x165667b1;
  const folded = foldText(text);
  for (let index = 0; index < folded.length; index += 1)
    mixed = Math.imul(mixed ^ folded.charCodeAt(index), 0x01000193) ^ (mixed >>> 17);
  return hashOf(mixed);
}

/** More would not leave out much more. */
const MAX_NEEDLE_GRAMS = 24;

export interface Needle {
  /** Grams of every text that contains it; none where it is too short for any. */
  readonly part: readonly number[];
  readonly whole: number;
}

export function readNeedle(text: string): Needle {
  const found = new Set<number>();
  for (const line of foldText(text).split('\n')) forEachGram(line, (hash) => found.add(hash));
  const step = Math.max(1, Math.ceil(found.size / MAX_NEEDLE_GRAMS));
  return { part: [...found].filter((_, index) => index % step === 0), whole: wholeGram(text) };
}
