/**
 * The parts of a credential that an error shows without saying so: in other letters, without its beginning, broken over
 * lines, its first or last characters. A run of characters counts that stands in the credential too and that no
 * sentence has by chance.
 */
import type { Span } from '../wire/text-search.ts';

/** Eight of random letters and digits stand in no other text. */
const RUN_CHARS = 8;
/** Two characters of one byte each: most places of a text are passed by with one look. */
const PAIRS = 1 << 16;
/** What all keys of a kind begin with, and what errors say of them: `sk-ant-api03-`. */
const COMMON_BEGINNING = /^(?:[a-z]{2,10}[-_]){1,3}(?:[a-z]{1,4}\d{1,2}[-_])?/;
/** Words of a sentence are of small letters, or of capitals. */
const RANDOM = /\d|[a-z].*[A-Z]|[A-Z].*[a-z]/;
/** Of all credentials together; a longer token is found by its first ones. */
const MAX_RUNS = 4_096;

interface Runs {
  readonly texts: ReadonlySet<string>;
  readonly pairs: Uint8Array;
}

function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at) & 0xff) << 8) | (text.charCodeAt(at + 1) & 0xff);
}

function listRuns(credentials: readonly string[]): Runs {
  const texts = new Set<string>();
  const pairs = new Uint8Array(PAIRS);
  for (const credential of credentials) {
    const common = COMMON_BEGINNING.exec(credential)?.[0].length ?? 0;
    for (let at = 0; at + RUN_CHARS <= credential.length && texts.size < MAX_RUNS; at += 1) {
      const run = credential.slice(at, at + RUN_CHARS);
      if (at + RUN_CHARS <= common || !RANDOM.test(run)) continue;
      const lower = run.toLowerCase();
      texts.add(lower);
      pairs[pairAt(lower, 0)] = 1;
    }
  }
  return { texts, pairs };
}

/** A character of `text` is a byte. In order; none within another. */
export function listParts(text: string, credentials: readonly string[]): readonly Span[] {
  const { texts, pairs } = listRuns(credentials);
  const spans: Span[] = [];
  if (texts.size === 0) return spans;
  // Bytes beyond ASCII stay as they are: some become two characters.
  const lower = text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let from = -1;
  let to = -1;
  for (let at = 0; at + RUN_CHARS <= lower.length; at += 1) {
    if (pairs[pairAt(lower, at)] === 0 || !texts.has(lower.slice(at, at + RUN_CHARS))) continue;
    if (at > to) {
      if (to > from) spans.push([from, to]);
      from = at;
    }
    to = at + RUN_CHARS;
  }
  if (to > from) spans.push([from, to]);
  return spans;
}
