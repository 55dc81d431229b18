/**
 * Gives back the stream that the client would have seen had nobody asked for usage: without the extra chunk at the
 * end, and without the `usage` members of the other chunks. Every other byte stays, and whole events go out at once.
 */

import { isJsonSpace, skipSpace } from '../wire/json-scan.ts';
import { scanTopLevel, type TopLevelMember } from '../wire/json-top-level.ts';
import { type DataSpan, readSseBlock, withoutBom } from '../wire/sse.ts';
import { createSseBlockSplitter } from '../wire/sse-blocks.ts';
import { createEventTest } from './event-test.ts';

/** An incomplete event larger than this is let go, and everything after it passes untouched. */
export const MAX_HELD_BYTES = 4 * 1024 * 1024;

const mentionsUsage = createEventTest('"usage"');
const WANTED = ['usage', 'choices', 'error'] as const;
const EMPTY = Buffer.alloc(0);
const COMMA = 44;

export interface UsageHider {
  /** The bytes that may go to the client now; null when there are none. */
  readonly push: (chunk: Buffer) => Buffer | null;
  /** The rest, also of a stream that was cut. */
  readonly finish: () => Buffer | null;
  /** Bytes of the incomplete event. */
  readonly bufferedBytes: number;
}

export function createUsageHider(): UsageHider {
  // Mutable because events arrive in pieces: what this push gives out, and whether hiding was given up.
  let out: Buffer[] = [];
  let isFirst = true;
  let isEdited = false;
  let passesThrough = false;

  const blocks = createSseBlockSplitter((block) => {
    if (block !== null) takeBlock(block);
  });

  function takeBlock(block: Buffer): void {
    const shown = isFirst ? showFirst(block) : showBlock(block);
    isFirst = false;
    if (shown !== block) isEdited = true;
    if (shown.length > 0) out.push(shown);
  }

  function takeOut(): Buffer | null {
    const [only] = out;
    const all = out.length <= 1 ? (only ?? null) : Buffer.concat(out);
    out = [];
    return all;
  }

  function push(chunk: Buffer): Buffer | null {
    if (chunk.length === 0) return null;
    if (passesThrough) return chunk;
    const heldBefore = blocks.pendingBytes;
    isEdited = false;
    blocks.push(chunk);
    if (!isEdited && heldBefore === 0 && blocks.pendingBytes === 0) {
      // Whole events and nothing to hide: the chunk itself.
      out = [];
      return chunk;
    }
    if (blocks.pendingBytes > MAX_HELD_BYTES) {
      passesThrough = true;
      const held = blocks.takePending();
      if (held !== null) out.push(held);
    }
    return takeOut();
  }

  function finish(): Buffer | null {
    const rest = blocks.takePending();
    if (rest !== null) takeBlock(rest);
    return takeOut();
  }

  return {
    push,
    finish,
    get bufferedBytes() {
      return blocks.pendingBytes;
    },
  };
}

function showFirst(block: Buffer): Buffer {
  const text = withoutBom(block);
  const shown = showBlock(text);
  return shown === text ? block : Buffer.concat([block.subarray(0, block.length - text.length), shown]);
}

/** The block as the client shall see it: itself, an edited copy, or nothing. */
function showBlock(block: Buffer): Buffer {
  if (!mentionsUsage(block)) return block;
  let shown = block;
  readSseBlock(block, (_eventType, data, span) => {
    shown = showEvent(block, data, span);
  });
  return shown;
}

function showEvent(block: Buffer, data: Buffer, span: DataSpan | null): Buffer {
  const { state, members, duplicates } = scanTopLevel(data, WANTED);
  const usage = members.get('usage');
  if (state !== 'complete' || usage === undefined || usage.valueEnd === null || duplicates.length > 0) return block;
  const isObject = data[usage.valueStart] === 123;
  if (isObject && isExtraChunk(data, members)) return EMPTY;
  if (!isObject && usage.scalar !== null) return block;
  // Data of several lines has no place in the block that could be edited; nobody sends it in these streams.
  if (span === null) return block;
  const [from, to] = memberRange(data, usage.keyStart, usage.valueEnd);
  return Buffer.concat([block.subarray(0, span.start + from), block.subarray(span.start + to)]);
}

/** The chunk that was sent only for the usage: its choices are empty, or it has neither choices nor an error. */
function isExtraChunk(data: Buffer, members: ReadonlyMap<string, TopLevelMember>): boolean {
  const choices = members.get('choices');
  if (choices === undefined) return !members.has('error');
  return data[choices.valueStart] === 91 && data[skipSpace(data, choices.valueStart + 1)] === 93;
}

/** A member with the comma before it, or, when it is the first, with the comma and white space after it. */
function memberRange(data: Buffer, keyStart: number, valueEnd: number): readonly [number, number] {
  let before = keyStart - 1;
  while (before >= 0 && isJsonSpace(data[before])) before -= 1;
  if (data[before] === COMMA) return [before, valueEnd];
  const after = skipSpace(data, valueEnd);
  return data[after] === COMMA ? [keyStart, skipSpace(data, after + 1)] : [keyStart, valueEnd];
}
