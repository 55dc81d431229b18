/** Frames as the first release wrote them, which a spool that it left behind still holds: checksum first, bodies apart. */
import { crc32 } from 'node:zlib';
import { FRAME_MAGIC, FRAME_TYPES } from '../../src/spool/frame.ts';
import type { CallBegin, CallBody, CallEnd } from '../../src/vocabulary/call-record.ts';

export function firstFrame(type: keyof typeof FRAME_TYPES, payload: string | Buffer): Buffer {
  const bytes = Buffer.from(payload);
  const header = Buffer.alloc(14);
  header.set(FRAME_MAGIC);
  header[4] = 1;
  header[5] = FRAME_TYPES[type];
  header.writeUInt32BE(bytes.length, 6);
  header.writeUInt32BE(crc32(bytes, crc32(header.subarray(4, 10))), 10);
  return Buffer.concat([header, bytes]);
}

export function firstEndFrame(begin: CallBegin, end: CallEnd): Buffer {
  return firstFrame('end', JSON.stringify([begin, end]));
}

export function firstBodyFrame({ bytes, ...about }: CallBody): Buffer {
  const text = Buffer.from(JSON.stringify(about));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  return firstFrame('body', Buffer.concat([length, text, bytes]));
}
