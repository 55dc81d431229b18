/** Splits a streamed JSON array into elements by brackets and quotes, without parsing them. */
import { JsonUnit } from './json-unit.ts';

const QUOTE = 34;
const BACKSLASH = 92;

export interface JsonArraySplitter {
  readonly push: (chunk: Buffer) => void;
  readonly closed: boolean;
  readonly bufferedBytes: number;
}

/** Returns objects and arrays whole, large ones thinned (as in `JsonUnit`); scalars between them are skipped. */
export function createJsonArraySplitter(
  onElement: (element: Buffer) => void,
  onUnread: () => void,
  largeBytes?: number,
): JsonArraySplitter {
  // Mutable because a scan spans chunks: depth 1 is between elements.
  let depth = 0;
  let inString = false;
  let escaped = false;
  let closed = false;
  const pending = new JsonUnit(onUnread, largeBytes);

  function emit(last: Buffer): void {
    const element = pending.take(last);
    if (element !== null) onElement(element);
  }

  /** The index after a string's closing quote, or the chunk's length when it goes on. */
  function passString(chunk: Buffer, from: number): number {
    let pos = from;
    if (escaped) {
      escaped = false;
      pos += 1;
    }
    while (pos < chunk.length) {
      const quote = chunk.indexOf(QUOTE, pos);
      const end = quote === -1 ? chunk.length : quote;
      let run = end;
      while (run > pos && chunk[run - 1] === BACKSLASH) run -= 1;
      const odd = (end - run) % 2 === 1;
      if (quote === -1) {
        escaped = odd;
        return chunk.length;
      }
      pos = quote + 1;
      if (!odd) {
        inString = false;
        return pos;
      }
    }
    return pos;
  }

  function push(chunk: Buffer): void {
    let start = depth > 1 ? 0 : -1;
    let pos = 0;
    while (pos < chunk.length && !closed) {
      if (inString) {
        pos = passString(chunk, pos);
        continue;
      }
      const byte = chunk[pos];
      pos += 1;
      if (byte === QUOTE) inString = true;
      else if (byte === 123 || byte === 91) {
        depth += 1;
        if (depth === 2) start = pos - 1;
      } else if (byte === 125 || byte === 93) {
        depth -= 1;
        if (depth === 1) {
          emit(chunk.subarray(start, pos));
          start = -1;
        } else if (depth <= 0) closed = true;
      }
    }
    if (start !== -1 && depth > 1) pending.push(chunk.subarray(start));
  }

  return {
    push,
    get closed() {
      return closed;
    },
    get bufferedBytes() {
      return pending.length;
    },
  };
}
