/** Splits JSON lines (NDJSON, JSONL), with LF or CRLF. Blank lines are skipped and the last line end is optional. */
import { isJsonSpace } from './json-scan.ts';
import { JsonUnit } from './json-unit.ts';
import { withoutBom } from './sse.ts';

const LF = 10;
const CR = 13;

export interface JsonLineSplitter {
  readonly push: (chunk: Buffer) => void;
  /** Returns a last line without an end. */
  readonly finish: () => void;
  readonly bufferedBytes: number;
}

/** `onUnread` and `largeBytes` are as in `JsonUnit`. */
export function createJsonLineSplitter(
  onLine: (line: Buffer) => void,
  onUnread: () => void,
  largeBytes?: number,
): JsonLineSplitter {
  const pending = new JsonUnit(onUnread, largeBytes);
  let atStart = true;

  function emit(last: Buffer | null): void {
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
        if (pending.isEmpty) {
          while (chunk[start] === LF || (chunk[start] === CR && chunk[start + 1] === LF)) start += 1;
        }
        const end = chunk.indexOf(LF, start);
        if (end === -1) break;
        emit(chunk.subarray(start, end));
        start = end + 1;
      }
      if (start < chunk.length) pending.push(chunk.subarray(start));
    },
    finish: () => {
      emit(null);
    },
    get bufferedBytes() {
      return pending.length;
    },
  };
}
