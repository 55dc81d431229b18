/** Parses HTTP/1.1 answers from bytes cut anywhere; bodies are passed on as slices without a copy. Pure. */
import { ResponseSyntaxError, readResponseHead, readTrailers } from './response-head.ts';

/** Limit for all heads of one answer, interim ones included, plus its trailers. */
const MAX_HEAD_BYTES = 128 * 1024;
const MAX_EXTENSION_BYTES = 16 * 1024;
/** 13 hexadecimal digits stay exact in a double. */
const MAX_SIZE_DIGITS = 13;
const FIRST_HOLD_BYTES = 1024;

export interface ResponseSink {
  onHead(status: number, reason: string, rawHeaders: string[]): void;
  onData(chunk: Buffer): void;
  /** After the last data, only when there are trailers: flat, well-formed. */
  onTrailers(rawTrailers: string[]): void;
}

const HEAD_END = '\r\n\r\n';
const BEGINNING = 'HTTP/1.';

const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;
const TAB = 0x09;
const FIRST_PRINTABLE = 0x20;
const DELETE = 0x7f;

const DONE = 0;
const HEAD = 1;
const LENGTH = 2;
const UNTIL_CLOSE = 3;
const SIZE_FIRST_DIGIT = 4;
const SIZE = 5;
const EXTENSION = 6;
const SIZE_LF = 7;
const CHUNK = 8;
const CHUNK_CR = 9;
const CHUNK_LF = 10;
const TRAILERS_OR_END = 11;
const TRAILERS = 12;
const LAST_LF = 13;

const NO_BYTES = Buffer.alloc(0);
const NO_SINK: ResponseSink = { onHead() {}, onData() {}, onTrailers() {} };

export class ResponseParser {
  /** Set by the owner to stop the hand-over until `push` is called with the rest. */
  isHalted = false;
  hasHead = false;
  status = 0;
  isKeptAlive = false;
  keepAliveMs: number | null = null;
  #state = DONE;
  #sink = NO_SINK;
  #isHeadRequest = false;
  /** Bytes left of the body or the chunk. */
  #left = 0;
  #digits = 0;
  #extensionBytes = 0;
  #headBytes = 0;
  /** An incomplete head or trailers. */
  #held = NO_BYTES;
  #heldBytes = 0;

  get isDone(): boolean {
    return this.#state === DONE;
  }

  start(isHeadRequest: boolean, sink: ResponseSink): void {
    this.isHalted = false;
    this.hasHead = false;
    this.status = 0;
    this.isKeptAlive = false;
    this.keepAliveMs = null;
    this.#state = HEAD;
    this.#sink = sink;
    this.#isHeadRequest = isHeadRequest;
    this.#extensionBytes = 0;
    this.#headBytes = 0;
    this.#heldBytes = 0;
  }

  /** Returns where it stopped: end of bytes, end of answer, or halted. Throws a final ResponseSyntaxError. */
  push(bytes: Buffer, from = 0): number {
    let at = from;
    while (at < bytes.length && !this.isHalted) {
      switch (this.#state) {
        case DONE:
          return at;
        case HEAD:
        case TRAILERS:
          at = this.#heldBytes === 0 ? this.#takeFields(bytes, at) : this.#takeRestOfFields(bytes, at);
          break;
        case LENGTH:
          at = this.#takeData(bytes, at, DONE);
          break;
        case CHUNK:
          at = this.#takeData(bytes, at, CHUNK_CR);
          break;
        case UNTIL_CLOSE:
          this.#sink.onData(at === 0 ? bytes : bytes.subarray(at));
          at = bytes.length;
          break;
        default:
          at = this.#takeFraming(bytes, at);
      }
    }
    return at;
  }

  /** Call when the connection ended properly. Returns whether the answer is whole. */
  finish(): boolean {
    if (this.#state === UNTIL_CLOSE) this.#state = DONE;
    return this.#state === DONE;
  }

  #takeFields(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(HEAD_END, at, 'latin1');
    if (end === -1) {
      this.#hold(bytes, at, bytes.length);
      this.#checkHeld(0);
      return bytes.length;
    }
    const next = end + HEAD_END.length;
    this.#countHead(next - at);
    this.#readFields(bytes.toString('latin1', at, end));
    return next;
  }

  #takeRestOfFields(bytes: Buffer, at: number): number {
    const before = this.#heldBytes;
    // The end mark may span both buffers.
    const joint = Math.min(bytes.length, at + HEAD_END.length - 1);
    this.#hold(bytes, at, joint);
    const searched = Math.max(0, before - HEAD_END.length + 1);
    let end = this.#held.subarray(0, this.#heldBytes).indexOf(HEAD_END, searched, 'latin1');
    let next = at + end + HEAD_END.length - before;
    if (end === -1) {
      const inside = bytes.indexOf(HEAD_END, at, 'latin1');
      next = inside === -1 ? bytes.length : inside + HEAD_END.length;
      this.#hold(bytes, joint, next);
      if (inside === -1) {
        this.#checkHeld(before);
        return next;
      }
      end = this.#heldBytes - HEAD_END.length;
    }
    const text = this.#held.toString('latin1', 0, end);
    this.#countHead(end + HEAD_END.length);
    this.#held = NO_BYTES;
    this.#heldBytes = 0;
    this.#readFields(text);
    return next;
  }

  #hold(bytes: Buffer, from: number, to: number): void {
    const neededBytes = this.#heldBytes + to - from;
    if (this.#headBytes + neededBytes > MAX_HEAD_BYTES) throw new ResponseSyntaxError('ANSWER_HEADERS_TOO_LARGE');
    if (neededBytes > this.#held.length) {
      const grown = Buffer.allocUnsafe(Math.max(FIRST_HOLD_BYTES, neededBytes * 2));
      this.#held.copy(grown, 0, 0, this.#heldBytes);
      this.#held = grown;
    }
    bytes.copy(this.#held, this.#heldBytes, from, to);
    this.#heldBytes = neededBytes;
  }

  /** Refuses at once what cannot become a valid head or trailers. */
  #checkHeld(from: number): void {
    const beginning = this.#held.toString('latin1', 0, Math.min(this.#heldBytes, BEGINNING.length));
    if (this.#state === HEAD && !BEGINNING.startsWith(beginning)) throw new ResponseSyntaxError('ANSWER_STATUS_LINE');
    for (let index = Math.max(1, from); index < this.#heldBytes; index += 1) {
      if (this.#held[index] === LF && this.#held[index - 1] !== CR) throw new ResponseSyntaxError('ANSWER_HEADER');
    }
  }

  #countHead(bytes: number): void {
    this.#headBytes += bytes;
    if (this.#headBytes > MAX_HEAD_BYTES) throw new ResponseSyntaxError('ANSWER_HEADERS_TOO_LARGE');
  }

  #readFields(text: string): void {
    if (this.#state === HEAD) {
      this.#readHead(text);
      return;
    }
    const rawTrailers = readTrailers(text);
    this.#state = DONE;
    this.#sink.onTrailers(rawTrailers);
  }

  #readHead(text: string): void {
    const head = readResponseHead(text);
    const { status, contentLength } = head;
    if (status === 101) throw new ResponseSyntaxError('ANSWER_SWITCHES_PROTOCOL');
    if (status < 200) return;
    this.hasHead = true;
    this.status = status;
    this.isKeptAlive = head.isKeptAlive;
    this.keepAliveMs = head.keepAliveMs;
    if (this.#isHeadRequest || status === 204 || status === 304) {
      this.#state = DONE;
    } else if (head.isChunked) {
      this.#state = SIZE_FIRST_DIGIT;
    } else if (contentLength === null) {
      this.#state = UNTIL_CLOSE;
      this.isKeptAlive = false;
    } else {
      this.#left = contentLength;
      this.#state = contentLength === 0 ? DONE : LENGTH;
    }
    this.#sink.onHead(status, head.reason, head.rawHeaders);
  }

  #takeData(bytes: Buffer, at: number, nextState: number): number {
    const end = at + Math.min(this.#left, bytes.length - at);
    this.#left -= end - at;
    if (this.#left === 0) this.#state = nextState;
    this.#sink.onData(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    return end;
  }

  /** Chunk sizes and extensions, byte by byte, until data, trailers or the end. */
  #takeFraming(bytes: Buffer, from: number): number {
    let at = from;
    let state = this.#state;
    while (at < bytes.length && state !== CHUNK && state !== TRAILERS && state !== DONE) {
      const byte = bytes[at] ?? 0;
      at += 1;
      switch (state) {
        case SIZE_FIRST_DIGIT:
          this.#left = hexDigit(byte);
          this.#digits = 1;
          state = SIZE;
          break;
        case SIZE:
          if (byte === CR) state = SIZE_LF;
          else if (byte === SEMICOLON) state = EXTENSION;
          else {
            this.#left = this.#left * 16 + hexDigit(byte);
            this.#digits += 1;
            if (this.#digits > MAX_SIZE_DIGITS) throw new ResponseSyntaxError('ANSWER_CHUNK');
          }
          break;
        case EXTENSION:
          this.#extensionBytes += 1;
          if (byte === CR) state = SIZE_LF;
          else if (isControl(byte) || this.#extensionBytes > MAX_EXTENSION_BYTES) {
            throw new ResponseSyntaxError('ANSWER_CHUNK');
          }
          break;
        case SIZE_LF:
          expect(byte, LF);
          state = this.#left === 0 ? TRAILERS_OR_END : CHUNK;
          break;
        case CHUNK_CR:
          expect(byte, CR);
          state = CHUNK_LF;
          break;
        case CHUNK_LF:
          expect(byte, LF);
          state = SIZE_FIRST_DIGIT;
          break;
        case TRAILERS_OR_END:
          if (byte === CR) state = LAST_LF;
          else if (isControl(byte)) throw new ResponseSyntaxError('ANSWER_HEADER');
          else {
            at -= 1; // It is the first of theirs.
            state = TRAILERS;
          }
          break;
        case LAST_LF:
          expect(byte, LF);
          state = DONE;
          break;
      }
    }
    this.#state = state;
    return at;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  if (lower >= 0x61 && lower <= 0x66) return lower - 0x57;
  throw new ResponseSyntaxError('ANSWER_CHUNK');
}

function isControl(byte: number): boolean {
  return (byte < FIRST_PRINTABLE && byte !== TAB) || byte === DELETE;
}

function expect(byte: number, expected: number): void {
  if (byte !== expected) throw new ResponseSyntaxError('ANSWER_CHUNK');
}
