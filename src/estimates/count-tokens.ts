/**
 * Counts the tokens of texts within a bound of time: long runs without a break, which cost the most, are taken apart, and
 * what is left when the time is over, or was not kept, is counted by its bytes.
 */
import type { CollectedText } from './text-collector.ts';

/** A run of more characters without a space, or of spaces, is counted in parts: 20,000 of them at once take a second. */
const MAX_RUN_CHARS = 1_000;
const LONG_RUN = new RegExp(String.raw`\S{${MAX_RUN_CHARS + 1},}|\s{${MAX_RUN_CHARS + 1},}`, 'g');
/** The clock is looked at after each slice. */
const SLICE_CHARS = 16 * 1024;

/** Bytes per token, times ten: what English prose has in `o200k_base` (3.71 characters). */
const BYTES_PER_TEN_TOKENS = 37;

/** Chinese, Japanese, Korean. */
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const CJK_SAMPLE_CHARS = 10_000;
/** From this share on a text counts as one of these scripts. */
const CJK_PERCENT = 30;

export interface CountedText {
  readonly tokens: number;
  /** A part of it was counted by its bytes. */
  readonly isRough: boolean;
  readonly isCjk: boolean;
}

export interface TokenCounter {
  readonly countTokens: (text: string) => number;
  readonly nowMs: () => number;
  /** By `nowMs`: from then on bytes are counted. */
  readonly deadlineMs: number;
}

export function tokensByBytes(bytes: number): number {
  return Math.ceil((bytes * 10) / BYTES_PER_TEN_TOKENS);
}

export function countText({ texts, overBytes }: CollectedText, counter: TokenCounter): CountedText {
  // Mutable sums.
  let tokens = 0;
  let roughBytes = overBytes;
  for (const text of texts) {
    for (const slice of sliceText(text)) {
      if (counter.nowMs() >= counter.deadlineMs) roughBytes += Buffer.byteLength(slice);
      else for (const piece of splitRuns(slice)) tokens += counter.countTokens(piece);
    }
  }
  return { tokens: tokens + tokensByBytes(roughBytes), isRough: roughBytes > 0, isCjk: isMostlyCjk(texts) };
}

/** Cut before a space where there is one: a word's token begins with it. */
function* sliceText(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > SLICE_CHARS) {
    const space = text.lastIndexOf(' ', start + SLICE_CHARS);
    const end = space > start ? space : start + SLICE_CHARS;
    yield text.slice(start, end);
    start = end;
  }
  yield text.slice(start);
}

function* splitRuns(slice: string): Generator<string> {
  let start = 0;
  for (const { 0: run, index } of slice.matchAll(LONG_RUN)) {
    for (let cut = index + MAX_RUN_CHARS; cut < index + run.length; cut += MAX_RUN_CHARS) {
      yield slice.slice(start, cut);
      start = cut;
    }
  }
  yield slice.slice(start);
}

function isMostlyCjk(texts: readonly string[]): boolean {
  let sample = '';
  for (const text of texts) {
    if (sample.length >= CJK_SAMPLE_CHARS) break;
    sample += text.slice(0, CJK_SAMPLE_CHARS - sample.length);
  }
  const found = sample.match(CJK)?.length ?? 0;
  return found * 100 >= sample.length * CJK_PERCENT && found > 0;
}
