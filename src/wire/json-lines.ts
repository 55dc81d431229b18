/**
 * Cuts a stream of JSON lines (NDJSON, JSONL) into lines, however the input is cut: one value a line, LF or CRLF, blank
 * lines passed over, and a last line that may lack its end. What is in a line is for others to parse.
 */
import { createGatheredBytes } from './gathered-bytes.ts';
import { isJsonSpace } from './json-scan.ts';
import { withoutBom } from './sse.ts';

/** A line larger than this is skipped. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

const LF = 10;
const CR = 13;

export interface JsonLineSplitter {
  readonly push: (chunk: Buffer) => void;
  /** Gives out a last line without an end. */
  readonly finish: () => void;
  readonly bufferedBytes: number;
}

/** `onSkipped` is called once for each line over the limit. */
export function createJsonLineSplitter(onLine: (line: Buffer) => void, onSkipped: () => void): JsonLineSplitter {
  const pending = createGatheredBytes();
  // Mutable because the lines come piece by piece; the rest of a line over the limit is passed over.
  let skipping = false;
  let atStart = true;

  function skip(): void {
    pending.clear();
    onSkipped();
  }

  function emit(last: Buffer | null): void {
    if (skipping) {
      skipping = false;
      return;
    }
    if (pending.length + (last?.length ?? 0) > MAX_LINE_BYTES) {
      skip();
      return;
    }
    const whole = pending.take(last);
    if (whole === null) return;
    const text = atStart ? withoutBom(whole) : whole;
    atStart = false;
    const line = text[text.length - 1] === CR ? text.subarray(0, -1) : text;
    if (!line.every(isJsonSpace)) onLine(line);
  }

  return {
    push: (chunk) => {
      let start = 0;
      while (start < chunk.length) {
        const end = chunk.indexOf(LF, start);
        if (end === -1) break;
        emit(chunk.subarray(start, end));
        start = end + 1;
      }
      if (start === chunk.length || skipping) return;
      pending.push(chunk.subarray(start));
      if (pending.length <= MAX_LINE_BYTES) return;
      skipping = true;
      skip();
    },
    finish: () => {
      emit(null);
    },
    get bufferedBytes() {
      return pending.length;
    },
  };
}
