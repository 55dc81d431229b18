/**
 * Frames that go to the disk together, laid out one behind the other in one buffer that is used again and again: a
 * record costs no allocation of its own and the group is one write.
 */
import { crc32 } from 'node:zlib';
import type { CallBody, SpoolEntry } from '../call-record.ts';
import {
  CHECKED_FROM,
  CHECKED_TO,
  FRAME_HEADER_BYTES,
  FRAME_MAGIC,
  FRAME_TYPES,
  FRAME_VERSION,
  MAX_PAYLOAD_BYTES,
} from './frame.ts';

const FIRST_BYTES = 64 * 1024;
/** A buffer that one large group has stretched beyond this is let go after it. */
const KEPT_BYTES = 1024 * 1024;
/** A character of a JavaScript string is at most so many bytes of UTF-8. */
const MAX_BYTES_PER_CHAR = 3;
const LENGTH_BYTES = 4;

/** A body without its bytes, as JSON. Put together by hand: this is done twice a call, and most of it needs no escaping. */
function describe(body: CallBody): string {
  const type = JSON.stringify(body.contentType);
  const encoding = JSON.stringify(body.contentEncoding);
  return (
    `{"id":"${body.id}","requestedAtMs":${body.requestedAtMs},"direction":"${body.direction}","contentType":${type},` +
    `"contentEncoding":${encoding},"totalBytes":${body.totalBytes},"headBytes":${body.headBytes}}`
  );
}

export class FrameGroup {
  #buffer: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;

  /** Bytes laid out so far. */
  get length(): number {
    return this.#length;
  }

  /** What is to be written; valid until `clear`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  }

  /** Adds a frame whose payload is text. False, and nothing added, above `MAX_PAYLOAD_BYTES`. */
  addText(type: SpoolEntry['type'], text: string): boolean {
    const start = this.#length;
    this.#reserve(FRAME_HEADER_BYTES + text.length * MAX_BYTES_PER_CHAR);
    const payloadBytes = this.#buffer.write(text, start + FRAME_HEADER_BYTES);
    return this.#finish(start, type, payloadBytes);
  }

  /** Adds a body: `length u32 of the description | description as JSON | bytes`. */
  addBody(body: CallBody): boolean {
    const { bytes } = body;
    const description = describe(body);
    const start = this.#length;
    const payload = start + FRAME_HEADER_BYTES;
    this.#reserve(FRAME_HEADER_BYTES + LENGTH_BYTES + description.length * MAX_BYTES_PER_CHAR + bytes.length);
    const descriptionBytes = this.#buffer.write(description, payload + LENGTH_BYTES);
    this.#buffer.writeUInt32BE(descriptionBytes, payload);
    bytes.copy(this.#buffer, payload + LENGTH_BYTES + descriptionBytes);
    return this.#finish(start, 'body', LENGTH_BYTES + descriptionBytes + bytes.length);
  }

  /** Takes back everything behind `length`, e.g. the bodies of a record that does not fit. */
  truncate(length: number): void {
    this.#length = length;
  }

  #finish(start: number, type: SpoolEntry['type'], payloadBytes: number): boolean {
    if (payloadBytes > MAX_PAYLOAD_BYTES) return false;
    const buffer = this.#buffer;
    const payload = start + FRAME_HEADER_BYTES;
    FRAME_MAGIC.copy(buffer, start);
    buffer[start + CHECKED_FROM] = FRAME_VERSION;
    buffer[start + CHECKED_FROM + 1] = FRAME_TYPES[type];
    buffer.writeUInt32BE(payloadBytes, start + CHECKED_FROM + 2);
    const headerCrc = crc32(buffer.subarray(start + CHECKED_FROM, start + CHECKED_TO));
    buffer.writeUInt32BE(crc32(buffer.subarray(payload, payload + payloadBytes), headerCrc), start + CHECKED_TO);
    this.#length = payload + payloadBytes;
    return true;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
