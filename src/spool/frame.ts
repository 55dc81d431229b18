/**
 * One record in a segment: `magic u32 | version u8 | type u8 | length u32 | payload | crc32 u32`, big endian. The
 * checksum covers all but the magic. In version 1 it stood before the payload.
 */
import { crc32 } from 'node:zlib';
import type { SpoolEntry } from '../vocabulary/call-record.ts';

/** Its outer bytes never occur in UTF-8, so a search skips JSON. */
export const FRAME_MAGIC = Buffer.from([0xf5, 0x54, 0x47, 0xfa]);
export const FRAME_VERSION = 2;
/** Still read. */
export const FIRST_FRAME_VERSION = 1;
/** Before the payload. */
export const FRAME_HEADER_BYTES = 10;
/** After the payload. */
export const FRAME_TRAILER_BYTES = 4;
/** Longer payloads are neither written nor believed. */
export const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;

export const FRAME_TYPES = { begin: 1, checkpoint: 2, body: 3, end: 4 } as const satisfies Record<
  SpoolEntry['type'],
  number
>;

export const CHECKED_FROM = 4;

/** `short`: possibly the start of a frame. `bad`: no frame starts here. */
export type FrameReading =
  | {
      readonly kind: 'frame';
      readonly version: number;
      readonly type: number;
      readonly payload: Buffer;
      readonly end: number;
    }
  | { readonly kind: 'short'; readonly needs: number }
  | { readonly kind: 'bad'; readonly checkedBytes: number };

/** Reads the frame at `offset`; never throws. */
export function readFrame(bytes: Buffer, offset: number): FrameReading {
  const available = bytes.length - offset;
  const magicBytes = Math.min(available, FRAME_MAGIC.length);
  if (bytes.compare(FRAME_MAGIC, 0, magicBytes, offset, offset + magicBytes) !== 0)
    return { kind: 'bad', checkedBytes: 0 };
  if (available < FRAME_HEADER_BYTES) return { kind: 'short', needs: FRAME_HEADER_BYTES };
  const version = bytes.readUInt8(offset + 4);
  const length = bytes.readUInt32BE(offset + 6);
  if (length > MAX_PAYLOAD_BYTES) return { kind: 'bad', checkedBytes: 0 };
  const payloadEnd = offset + FRAME_HEADER_BYTES + length;
  const end = payloadEnd + FRAME_TRAILER_BYTES;
  if (end > bytes.length) return { kind: 'short', needs: end - offset };
  if (version === FIRST_FRAME_VERSION) return readFirstVersion(bytes, offset, end);
  const crc = crc32(bytes.subarray(offset + CHECKED_FROM, payloadEnd));
  if (crc !== bytes.readUInt32BE(payloadEnd)) return { kind: 'bad', checkedBytes: length };
  const payload = bytes.subarray(offset + FRAME_HEADER_BYTES, payloadEnd);
  return { kind: 'frame', version, type: bytes.readUInt8(offset + 5), payload, end };
}

function readFirstVersion(bytes: Buffer, offset: number, end: number): FrameReading {
  const crcAt = offset + FRAME_HEADER_BYTES;
  const payload = bytes.subarray(crcAt + FRAME_TRAILER_BYTES, end);
  const crc = crc32(payload, crc32(bytes.subarray(offset + CHECKED_FROM, crcAt)));
  if (crc !== bytes.readUInt32BE(crcAt)) return { kind: 'bad', checkedBytes: payload.length };
  return { kind: 'frame', version: FIRST_FRAME_VERSION, type: bytes.readUInt8(offset + 5), payload, end };
}
