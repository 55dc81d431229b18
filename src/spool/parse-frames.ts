/** Parses a segment's bytes into records, skipping and counting damage. Pure; never throws. */
import type { CallBegin, CallBody, CallCheckpoint, CallEnd, SpoolEntry } from '../vocabulary/call-record.ts';
import {
  FIRST_FRAME_VERSION,
  FRAME_HEADER_BYTES,
  FRAME_MAGIC,
  FRAME_TYPES,
  FRAME_VERSION,
  readFrame,
} from './frame.ts';

export interface ParsedEntry {
  readonly entry: SpoolEntry;
  readonly bytes: number;
  readonly end: number;
}

export interface ParsedFrames {
  readonly entries: readonly ParsedEntry[];
  /** Everything before it is dealt with. */
  readonly consumed: number;
  /** Length of the frame at `consumed`, as far as known; 0 when nothing is left. */
  readonly needs: number;
  readonly corruptBytes: number;
  /** Zeros or unconfirmed damage follow: a file written in place has not got there yet. */
  readonly isUnwritten: boolean;
  /** Stopped at apparent damage that may be half written: see `damageKnownAt`. */
  readonly looksDamaged: boolean;
}

export interface ParseLimits {
  readonly maxEnds: number;
  /** Stops after this many bytes, though never between a body and what follows it. */
  readonly maxBytes: number;
  /** For a file still being written: skips damage at this offset only. Absent: everywhere. */
  readonly damageKnownAt?: number | null;
}

/** Bounds checksums behind damage, since stored bodies could hold made-up frame headers. */
const MAX_RESYNC_BYTES = 512 * 1024 * 1024;
/** At least this many zeros behind damage are unwritten room. */
const MIN_UNWRITTEN_BYTES = 512;

/** `isFinal`: nothing will be appended, so an unfinished frame is damage. */
export function parseFrames(bytes: Buffer, from: number, isFinal: boolean, limits: ParseLimits): ParsedFrames {
  const entries: ParsedEntry[] = [];
  let offset = from;
  let corruptBytes = 0;
  let ends = 0;
  let taken = 0;
  let resyncBytes = 0;
  let isBehindBody = false;
  while (offset < bytes.length && ends < limits.maxEnds && (taken < limits.maxBytes || isBehindBody)) {
    if (!isFinal && bytes[offset] === 0) {
      const isFollowed = findMagic(bytes, offset, false) !== bytes.length;
      if (!isFollowed || isDoubtful(offset)) return stopAt({ isUnwritten: true, looksDamaged: isFollowed });
    }
    const frame = readFrame(bytes, offset);
    if (frame.kind === 'frame') {
      const found = decodeFrame(frame.version, frame.type, frame.payload);
      const frameBytes = frame.end - offset;
      const last = found.at(-1);
      if (last === undefined) corruptBytes += frameBytes;
      else {
        // The bytes count with the last record, at which a reader may stop.
        for (const entry of found) entries.push({ entry, bytes: entry === last ? frameBytes : 0, end: frame.end });
        taken += frameBytes;
        isBehindBody = last.type === 'body';
        if (last.type === 'end') ends += 1;
      }
      offset = frame.end;
      continue;
    }
    if (frame.kind === 'short' && !isFinal) return { ...stopAt({}), needs: frame.needs };
    if (isDoubtful(offset)) return stopAt({ isUnwritten: true, looksDamaged: true });
    resyncBytes += frame.kind === 'bad' ? frame.checkedBytes : 0;
    const next = resyncBytes > MAX_RESYNC_BYTES ? bytes.length : findMagic(bytes, offset + 1, isFinal);
    const isLast = next === bytes.length;
    corruptBytes += (isFinal && isLast ? writtenEnd(bytes, offset) : next) - offset;
    offset = next;
    if (!isFinal && isLast) {
      // The next frame may be written over the zeros.
      offset -= countTrailingZeros(bytes);
      corruptBytes -= next - offset;
    }
  }
  return { ...stopAt({}), needs: offset < bytes.length ? FRAME_HEADER_BYTES : 0 };

  function stopAt(why: { readonly isUnwritten?: boolean; readonly looksDamaged?: boolean }): ParsedFrames {
    return { entries, consumed: offset, needs: 0, corruptBytes, isUnwritten: false, looksDamaged: false, ...why };
  }

  function isDoubtful(at: number): boolean {
    return !isFinal && limits.damageKnownAt !== undefined && limits.damageKnownAt !== at;
  }
}

/** Zeros at the end are unwritten room, but a frame can also end with a few. */
function writtenEnd(bytes: Buffer, from: number): number {
  const end = Math.max(from, bytes.length - countTrailingZeros(bytes));
  return end === from || bytes.length - end >= MIN_UNWRITTEN_BYTES ? end : bytes.length;
}

function countTrailingZeros(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return bytes.length - end;
}

/** Finds the next magic; unless final, a partial one at the end counts. */
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

/** Empty for a newer version or type, or an invalid payload. */
function decodeFrame(version: number, type: number, payload: Buffer): readonly SpoolEntry[] {
  try {
    if (version === FRAME_VERSION && type === FRAME_TYPES.end) return decodeEnd(payload);
    if (version !== FRAME_VERSION && version !== FIRST_FRAME_VERSION) return [];
    const entry = decodeEntry(version, type, payload);
    return entry === null ? [] : [entry];
  } catch {
    // The caller counts the bytes as corrupt.
    return [];
  }
}

function decodeEntry(version: number, type: number, payload: Buffer): SpoolEntry | null {
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
      return version === FIRST_FRAME_VERSION ? decodeBody(payload) : null;
    case FRAME_TYPES.end: {
      const [begin, end]: [CallBegin, CallEnd] = JSON.parse(payload.toString());
      return isRecord(begin) && isRecord(end) ? { type: 'end', begin, end } : null;
    }
    default:
      return null;
  }
}

type BodyDescription = Omit<CallBody, 'id' | 'requestedAtMs' | 'bytes'> & { readonly bytes: number };

/** Each body becomes a record before the ending. */
function decodeEnd(payload: Buffer): readonly SpoolEntry[] {
  let at = 4 + payload.readUInt32BE(0);
  if (at > payload.length) return [];
  const parsed: [CallBegin, CallEnd, BodyDescription[]] = JSON.parse(payload.toString('utf8', 4, at));
  const [begin, end, described] = parsed;
  if (!isRecord(begin) || !isRecord(end)) return [];
  const entries: SpoolEntry[] = [];
  for (const about of described) {
    const bytes = payload.subarray(at, at + about.bytes);
    if (bytes.length !== about.bytes) return [];
    at += about.bytes;
    entries.push({ type: 'body', body: { id: begin.id, requestedAtMs: begin.requestedAtMs, ...about, bytes } });
  }
  entries.push({ type: 'end', begin, end });
  return entries;
}

/** A body of version 1 is a frame of its own. */
function decodeBody(payload: Buffer): SpoolEntry | null {
  const descriptionEnd = 4 + payload.readUInt32BE(0);
  if (descriptionEnd > payload.length) return null;
  const about: Omit<CallBody, 'bytes'> = JSON.parse(payload.toString('utf8', 4, descriptionEnd));
  return isRecord(about) ? { type: 'body', body: { ...about, bytes: payload.subarray(descriptionEnd) } } : null;
}

function isRecord(value: { readonly id: string } | null): boolean {
  return typeof value === 'object' && value !== null && typeof value.id === 'string';
}
