/** Reads server-sent events (WHATWG HTML 9.2.6); an unterminated last event counts too, unlike in the standard. */
import { LARGE_JSON_BYTES } from './json-unit.ts';
import { LargeSseEvent } from './large-sse-event.ts';
import { createSseBlockSplitter } from './sse-blocks.ts';

const LF = 10;
const CR = 13;
const COLON = 58;
const SPACE = 32;
/** Bytes of "data" and "event". */
const D = 100;
const A = 97;
const T = 116;
const BOM = [0xef, 0xbb, 0xbf] as const;

const NEWLINE = Buffer.from('\n');

export type OnSseEvent = (eventType: string | null, data: Buffer) => void;

export interface SseSplitter {
  readonly push: (chunk: Buffer) => void;
  readonly finish: () => void;
  readonly bufferedBytes: number;
}

function isDataField(block: Buffer, at: number): boolean {
  return block[at] === D && block[at + 1] === A && block[at + 2] === T && block[at + 3] === A;
}

/** The only data line of a block, or null when there is none or several. */
export interface DataSpan {
  readonly start: number;
  readonly end: number;
}

/** Calls back when the block has data: a slice for one line, lines joined with LF for several. */
export function readSseBlock(
  block: Buffer,
  onEvent: (eventType: string | null, data: Buffer, span: DataSpan | null) => void,
): void {
  let eventType: string | null = null;
  let first: DataSpan | null = null;
  let lines: Buffer[] | null = null;
  let pos = 0;
  const length = block.length;
  let crAt = block.indexOf(CR);
  while (pos < length) {
    const lfAt = block.indexOf(LF, pos);
    let end = lfAt === -1 ? length : lfAt;
    let next = lfAt === -1 ? length : lfAt + 1;
    if (crAt !== -1 && crAt < pos) crAt = block.indexOf(CR, pos);
    if (crAt !== -1 && crAt < end) {
      end = crAt;
      next = block[crAt + 1] === LF ? crAt + 2 : crAt + 1;
    }
    if (isDataField(block, pos) && (block[pos + 4] === COLON || pos + 4 === end)) {
      let start = Math.min(pos + 5, end);
      if (start < end && block[start] === SPACE) start += 1;
      if (first === null) first = { start, end };
      else {
        lines ??= [block.subarray(first.start, first.end)];
        lines.push(NEWLINE, block.subarray(start, end));
      }
    } else if (end - pos > 5 && block[pos + 5] === COLON && block.toString('latin1', pos, pos + 5) === 'event') {
      const start = block[pos + 6] === SPACE ? pos + 7 : pos + 6;
      // An empty type counts as none.
      eventType = start < end ? block.toString('utf8', start, end) : null;
    }
    pos = next;
  }
  if (lines !== null) onEvent(eventType, Buffer.concat(lines), null);
  else if (first !== null) onEvent(eventType, block.subarray(first.start, first.end), first);
}

/** `onUnread` is called once for each large event that lost something that may matter. */
export function createSseSplitter(
  onEvent: OnSseEvent,
  onUnread: () => void,
  largeBytes = LARGE_JSON_BYTES,
): SseSplitter {
  // Mutable because a stream is read piece by piece: a large event that is not over yet.
  let atStart = true;
  let large: LargeSseEvent | null = null;

  function readLarge(event: LargeSseEvent): void {
    const data = event.take();
    if (event.isUnread) onUnread();
    if (data !== null) onEvent(event.eventType, data);
  }

  function readBlock(whole: Buffer | null): void {
    if (large !== null) {
      const event = large;
      large = null;
      atStart = false;
      readLarge(event);
      return;
    }
    let block = whole;
    if (block !== null && atStart) block = withoutBom(block);
    atStart = false;
    if (block === null || isBlank(block)) return;
    if (block.length <= largeBytes) readSseBlock(block, onEvent);
    else {
      const event = new LargeSseEvent();
      event.push(block);
      readLarge(event);
    }
  }

  const blocks = createSseBlockSplitter(readBlock);
  return {
    push: (chunk) => {
      blocks.push(chunk);
      if (blocks.pendingBytes > largeBytes) {
        const event = new LargeSseEvent();
        large = event;
        blocks.divertPending((piece, mayHaveLineEnd) => event.push(piece, mayHaveLineEnd));
      }
    },
    finish: () => {
      const rest = blocks.takePending();
      if (rest !== null || large !== null) readBlock(rest);
    },
    get bufferedBytes() {
      return blocks.pendingBytes + (large?.length ?? 0);
    },
  };
}

/** Blank lines and nothing else, as some servers send to keep a connection alive: not worth a look. */
function isBlank(block: Buffer): boolean {
  return block[0] === LF || block[0] === CR;
}

/** A byte order mark may stand at the very start of a stream. */
export function withoutBom(block: Buffer): Buffer {
  return BOM.every((byte, index) => block[index] === byte) ? block.subarray(BOM.length) : block;
}
