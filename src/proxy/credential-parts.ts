/** Finds fragments of a credential in an error: runs that occur in the credential and in no sentence by chance. */
import type { Span } from '../formats/wire/text-search.ts';

/** Eight random characters occur in no other text. */
const RUN_CHARS = 8;
/** One table of byte pairs rules out most positions with one look. */
const PAIRS = 1 << 16;
/** The prefix shared by all keys of a kind, `sk-ant-api03-`, which errors may mention. */
const COMMON_BEGINNING = /^(?:[a-z]{2,10}[-_]){1,3}(?:[a-z]{1,4}\d{1,2}[-_])?/;
/** Words of a sentence have no digits and no mixed case. */
const RANDOM = /\d|[a-z].*[A-Z]|[A-Z].*[a-z]/;
/** Bounds the runs of all credentials together; a longer token is found by its first ones. */
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

/** For all texts of one error: making the tables takes longer than looking through most of them. */
export function createPartSearch(credentials: readonly string[]): (text: string) => readonly Span[] {
  let runs: Runs | null = null;
  return (text) => {
    runs ??= listRuns(credentials);
    return findRuns(text, runs);
  };
}

/** `text` has one byte a character. The spans are in order and do not overlap. */
function findRuns(text: string, { texts, pairs }: Runs): readonly Span[] {
  const spans: Span[] = [];
  if (texts.size === 0) return spans;
  // Only ASCII: other characters may become two when lowered.
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
