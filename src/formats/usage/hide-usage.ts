/** Removes usage that only the gateway asked for from a stream. Every other byte stays. */

import { isJsonSpace, skipSpace } from '../wire/json-scan.ts';
import { scanTopLevel, type TopLevelMember } from '../wire/json-top-level.ts';
import { type DataSpan, readSseBlock, withoutBom } from '../wire/sse.ts';
import { createSseBlockSplitter } from '../wire/sse-blocks.ts';
import { createEventTest } from './event-test.ts';

/** A larger incomplete event is released, and everything after it passes unchanged. */
export const MAX_HELD_BYTES = 4 * 1024 * 1024;

const mentionsUsage = createEventTest('"usage"');
const WANTED = ['usage', 'choices', 'error'] as const;
const EMPTY = Buffer.alloc(0);
const COMMA = 44;

export interface UsageHider {
  /** Bytes for the client now; null when there are none. */
  readonly push: (chunk: Buffer) => Buffer | null;
  /** Returns the rest, also of a cut stream. */
  readonly finish: () => Buffer | null;
  readonly bufferedBytes: number;
}

export function createUsageHider(): UsageHider {
  // Mutable because events arrive in pieces: this push's output, and whether hiding was given up.
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
  // Multi-line data cannot be edited in place; these streams do not use it.
  if (span === null) return block;
  const [from, to] = memberRange(data, usage.keyStart, usage.valueEnd);
  return Buffer.concat([block.subarray(0, span.start + from), block.subarray(span.start + to)]);
}

/** The chunk sent only for usage has empty choices, or neither choices nor an error. */
function isExtraChunk(data: Buffer, members: ReadonlyMap<string, TopLevelMember>): boolean {
  const choices = members.get('choices');
  if (choices === undefined) return !members.has('error');
  return data[choices.valueStart] === 91 && data[skipSpace(data, choices.valueStart + 1)] === 93;
}

/** A member with the comma before it, or after it when it is the first. */
function memberRange(data: Buffer, keyStart: number, valueEnd: number): readonly [number, number] {
  let before = keyStart - 1;
  while (before >= 0 && isJsonSpace(data[before])) before -= 1;
  if (data[before] === COMMA) return [before, valueEnd];
  const after = skipSpace(data, valueEnd);
  return data[after] === COMMA ? [keyStart, skipSpace(data, after + 1)] : [keyStart, valueEnd];
}
