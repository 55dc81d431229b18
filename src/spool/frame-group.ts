/** Lays out frames in one reused buffer: no allocation for a record, and one write for the group. */
import { crc32 } from 'node:zlib';
import type { CallBody, CallEnd, SpoolEntry } from '../vocabulary/call-record.ts';
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
/** A larger buffer is released after use. */
const KEPT_BYTES = 1024 * 1024;
/** Most bytes of UTF-8 for one UTF-16 unit. */
const MAX_BYTES_PER_CHAR = 3;
const LENGTH_BYTES = 4;
const NEEDS_NO_ESCAPE = /^[\x20!\x23-\x5b\x5d-\x7e]*$/;
/** Brackets and commas around the three texts of an ending. */
const PUNCTUATION_CHARS = 6;

function quote(text: string | null): string {
  if (text === null) return 'null';
  return NEEDS_NO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** A body without its bytes and its begin's members, as JSON. */
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

  get length(): number {
    return this.#length;
  }

  /** Valid until `clear`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  }

  /** Adds a frame with a text payload. Returns false, and adds nothing, above `MAX_PAYLOAD_BYTES`. */
  addText(type: 'begin' | 'checkpoint', text: string): boolean {
    const start = this.#length;
    this.#reserve(FRAME_HEADER_BYTES + text.length * MAX_BYTES_PER_CHAR + FRAME_TRAILER_BYTES);
    const payloadBytes = this.#buffer.write(text, start + FRAME_HEADER_BYTES);
    return this.#finish(start, type, payloadBytes);
  }

  /**
   * Adds an ending with begin and bodies: `length u32 of the text | text | bodies`, with the text as JSON `[begin, end,
   * [body without its bytes, …]]`. `beginText` is JSON. False as for `addText`.
   */
  addEnd(beginText: string, end: CallEnd, bodies: readonly CallBody[]): boolean {
    // Written in pieces, which saves a copy.
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

  /** Drops everything behind `length`. */
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

  /** Returns the end. */
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
