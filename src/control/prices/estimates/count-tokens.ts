/** Counts tokens within a time limit: long unbroken runs are split, and what is left at the end is counted by bytes. */
import type { CollectedText } from './text-collector.ts';

/** Longer runs are split: 20,000 characters at once take a second. */
const MAX_RUN_CHARS = 1_000;
const LONG_RUN = new RegExp(String.raw`\S{${MAX_RUN_CHARS + 1},}|\s{${MAX_RUN_CHARS + 1},}`, 'g');
/** The clock is read after each slice. */
const SLICE_CHARS = 16 * 1024;

/** Bytes per ten tokens of English prose in `o200k_base` (3.71 characters each). */
const BYTES_PER_TEN_TOKENS = 37;

const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const CJK_SAMPLE_CHARS = 10_000;
const CJK_PERCENT = 30;

export interface CountedText {
  readonly tokens: number;
  readonly isRough: boolean;
  readonly isCjk: boolean;
}

export interface TokenCounter {
  readonly countTokens: (text: string) => number;
  readonly nowMs: () => number;
  /** By `nowMs`; bytes are counted from then on. */
  readonly deadlineMs: number;
}

export function tokensByBytes(bytes: number): number {
  return Math.ceil((bytes * 10) / BYTES_PER_TEN_TOKENS);
}

export function countText({ texts, overBytes }: CollectedText, counter: TokenCounter): CountedText {
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

/** Cuts before a space where possible: a word's token begins with it. */
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
