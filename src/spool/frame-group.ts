/**
 * Frames that go to the disk together, laid out one behind the other in one buffer that is used again and again: a
 * record costs no allocation of its own and the group is one write.
 */
import { crc32 } from 'node:zlib';
import type { CallBody, CallEnd, SpoolEntry } from '../call-record.ts';
import {
  CHECKED_FROM,
  FRAME_HEADER_BYTES,
  FRAME_MAGIC,
  FRAME_TRAILER_BYTES,
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
const NEEDS_NO_ESCAPE = /^[\x20!\x23-\x5b\x5d-\x7e]*$/;
/** Around the three texts of an ending. */
const PUNCTUATION_CHARS = 6;

/** As JSON. */
function quote(text: string | null): string {
  if (text === null) return 'null';
  return NEEDS_NO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** A body without its bytes and without what stands in its begin, as JSON. */
function describe(body: CallBody): string {
  const type = quote(body.contentType);
  const encoding = quote(body.contentEncoding);
  return (
    `{"direction":"${body.direction}","contentType":${type},"contentEncoding":${encoding},` +
    `"totalBytes":${body.totalBytes},"headBytes":${body.headBytes},"bytes":${body.bytes.length}}`
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
  addText(type: 'begin' | 'checkpoint', text: string): boolean {
    const start = this.#length;
    this.#reserve(FRAME_HEADER_BYTES + text.length * MAX_BYTES_PER_CHAR + FRAME_TRAILER_BYTES);
    const payloadBytes = this.#buffer.write(text, start + FRAME_HEADER_BYTES);
    return this.#finish(start, type, payloadBytes);
  }

  /**
   * Adds an ending with its begin and its bodies in one frame: `length u32 of the text | text | bytes of the bodies`,
   * the text being JSON: `[begin, end, [body without its bytes, …]]`. `beginText` is the begin as JSON.
   */
  addEnd(beginText: string, end: CallEnd, bodies: readonly CallBody[]): boolean {
    // The pieces are written one by one: joined, they would be copied once more.
    const endText = JSON.stringify(end);
    let bodiesText = '';
    let bodyBytes = 0;
    for (const body of bodies) {
      bodiesText += bodiesText === '' ? describe(body) : `,${describe(body)}`;
      bodyBytes += body.bytes.length;
    }
    const start = this.#length;
    const textAt = start + FRAME_HEADER_BYTES + LENGTH_BYTES;
    const chars = beginText.length + endText.length + bodiesText.length + PUNCTUATION_CHARS;
    this.#reserve(textAt - start + chars * MAX_BYTES_PER_CHAR + bodyBytes + FRAME_TRAILER_BYTES);
    let at = this.#write('[', textAt);
    at = this.#write(beginText, at);
    at = this.#write(',', at);
    at = this.#write(endText, at);
    at = this.#write(`,[${bodiesText}]]`, at);
    this.#buffer.writeUInt32BE(at - textAt, start + FRAME_HEADER_BYTES);
    for (const { bytes } of bodies) {
      this.#buffer.set(bytes, at);
      at += bytes.length;
    }
    return this.#finish(start, 'end', at - start - FRAME_HEADER_BYTES);
  }

  /** Takes back everything behind `length`, e.g. a record for which there is no room. */
  truncate(length: number): void {
    this.#length = length;
  }

  #finish(start: number, type: SpoolEntry['type'], payloadBytes: number): boolean {
    if (payloadBytes > MAX_PAYLOAD_BYTES) return false;
    const buffer = this.#buffer;
    const payloadEnd = start + FRAME_HEADER_BYTES + payloadBytes;
    buffer.set(FRAME_MAGIC, start);
    buffer[start + CHECKED_FROM] = FRAME_VERSION;
    buffer[start + CHECKED_FROM + 1] = FRAME_TYPES[type];
    buffer.writeUInt32BE(payloadBytes, start + CHECKED_FROM + 2);
    buffer.writeUInt32BE(crc32(buffer.subarray(start + CHECKED_FROM, payloadEnd)), payloadEnd);
    this.#length = payloadEnd + FRAME_TRAILER_BYTES;
    return true;
  }

  /** Where it ends. */
  #write(text: string, at: number): number {
    return at + this.#buffer.write(text, at);
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
