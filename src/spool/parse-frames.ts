/**
 * Bytes of a segment to records, whatever the bytes are: damage is stepped over and counted. Pure and total: it always
 * ends, never throws, and reads every whole frame that is there.
 */
import type { CallBegin, CallBody, CallCheckpoint, CallEnd, SpoolEntry } from '../call-record.ts';
import { FRAME_HEADER_BYTES, FRAME_MAGIC, FRAME_TYPES, FRAME_VERSION, readFrame } from './frame.ts';

/** Where a record ends in the bytes that were parsed. */
export interface ParsedEntry {
  readonly entry: SpoolEntry;
  readonly bytes: number;
  readonly end: number;
}

export interface ParsedFrames {
  readonly entries: readonly ParsedEntry[];
  /** Everything before it has been dealt with; what follows may be the beginning of a frame. */
  readonly consumed: number;
  /** Total length of the frame that begins at `consumed`, as far as it is known; 0 when nothing is left. */
  readonly needs: number;
  /** Bytes that were stepped over. */
  readonly corruptBytes: number;
}

export interface ParseLimits {
  /** Endings after which to stop. */
  readonly maxEnds: number;
  /** Bytes of records after which to stop, though never between a body and what follows it. */
  readonly maxBytes: number;
}

/**
 * Checksums over damaged stretches are tried up to this many bytes a call. Stored bodies are the clients' bytes, and
 * could be full of made-up frame headers; behind damage each of them would be checked.
 */
const MAX_RESYNC_BYTES = 512 * 1024 * 1024;

/** Parses from `from`. `isFinal`: nothing will be appended, so an unfinished frame at the end is damage, too. */
export function parseFrames(bytes: Buffer, from: number, isFinal: boolean, limits: ParseLimits): ParsedFrames {
  const entries: ParsedEntry[] = [];
  let offset = from;
  let corruptBytes = 0;
  let ends = 0;
  let taken = 0;
  let resyncBytes = 0;
  let isBehindBody = false;
  while (offset < bytes.length && ends < limits.maxEnds && (taken < limits.maxBytes || isBehindBody)) {
    const frame = readFrame(bytes, offset);
    if (frame.kind === 'frame') {
      const entry = frame.version === FRAME_VERSION ? decodeEntry(frame.type, frame.payload) : null;
      const frameBytes = frame.end - offset;
      if (entry === null) corruptBytes += frameBytes;
      else {
        entries.push({ entry, bytes: frameBytes, end: frame.end });
        taken += frameBytes;
        isBehindBody = entry.type === 'body';
        if (entry.type === 'end') ends += 1;
      }
      offset = frame.end;
      continue;
    }
    if (frame.kind === 'short' && !isFinal) return { entries, consumed: offset, needs: frame.needs, corruptBytes };
    resyncBytes += frame.kind === 'bad' ? frame.checkedBytes : 0;
    const next = resyncBytes > MAX_RESYNC_BYTES ? bytes.length : findMagic(bytes, offset + 1, isFinal);
    corruptBytes += next - offset;
    offset = next;
  }
  return { entries, consumed: offset, needs: offset < bytes.length ? FRAME_HEADER_BYTES : 0, corruptBytes };
}

/** The next place where a frame may begin; with more bytes to come, a part of the magic at the very end counts. */
function findMagic(bytes: Buffer, from: number, isFinal: boolean): number {
  const found = bytes.indexOf(FRAME_MAGIC, from);
  if (found !== -1) return found;
  if (isFinal) return bytes.length;
  for (let length = FRAME_MAGIC.length - 1; length > 0; length -= 1) {
    const start = bytes.length - length;
    if (start >= from && bytes.compare(FRAME_MAGIC, 0, length, start) === 0) return start;
  }
  return bytes.length;
}

/** Null for a type of a newer version, or a payload that is not what its type says. */
function decodeEntry(type: number, payload: Buffer): SpoolEntry | null {
  try {
    switch (type) {
      case FRAME_TYPES.begin: {
        const begin: CallBegin = JSON.parse(payload.toString());
        return isRecord(begin) ? { type: 'begin', begin } : null;
      }
      case FRAME_TYPES.checkpoint: {
        const checkpoint: CallCheckpoint = JSON.parse(payload.toString());
        return isRecord(checkpoint) ? { type: 'checkpoint', checkpoint } : null;
      }
      case FRAME_TYPES.body:
        return decodeBody(payload);
      case FRAME_TYPES.end: {
        const [begin, end]: [CallBegin, CallEnd] = JSON.parse(payload.toString());
        return isRecord(begin) && isRecord(end) ? { type: 'end', begin, end } : null;
      }
      default:
        return null;
    }
  } catch {
    // Not silent: the frame's bytes are counted as corrupt by the caller.
    return null;
  }
}

function decodeBody(payload: Buffer): SpoolEntry | null {
  const descriptionEnd = 4 + payload.readUInt32BE(0);
  if (descriptionEnd > payload.length) return null;
  const about: Omit<CallBody, 'bytes'> = JSON.parse(payload.toString('utf8', 4, descriptionEnd));
  return isRecord(about) ? { type: 'body', body: { ...about, bytes: payload.subarray(descriptionEnd) } } : null;
}

function isRecord(value: { readonly id: string } | null): boolean {
  return typeof value === 'object' && value !== null && typeof value.id === 'string';
}
