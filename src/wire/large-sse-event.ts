/**
 * One event of a stream that is too large to be held, read line by line while its bytes pass: its type, and its data as
 * a thinner JSON text. What is no JSON is not kept.
 */
import { JsonThinner } from './json-thinner.ts';

/** Of the beginning of a line: enough for the name of its field, and for the type of the event. */
const MAX_LINE_START_BYTES = 256;
const LF = 10;
const CR = 13;
const SPACE = 32;
const DATA = Buffer.from('data:');
const EVENT = 'event:';
const NEWLINE = Buffer.from('\n');

export class LargeSseEvent {
  readonly #thinner = new JsonThinner();
  #eventType: string | null = null;
  #hasData = false;
  /** The beginning of the line, until it is known whose it is. */
  #start: Buffer = Buffer.alloc(0);
  #line: 'start' | 'data' | 'other' = 'start';

  get eventType(): string | null {
    return this.#eventType;
  }

  /** Bytes held. */
  get length(): number {
    return this.#thinner.length + this.#start.length;
  }

  get isUnread(): boolean {
    return this.#thinner.isUnread;
  }

  /** `mayHaveLineEnd` false: somebody else has looked. */
  push(bytes: Buffer, mayHaveLineEnd = true): void {
    if (!mayHaveLineEnd) {
      this.#readPiece(bytes);
      return;
    }
    let from = 0;
    let crAt = bytes.indexOf(CR);
    let lfAt = bytes.indexOf(LF);
    while (from < bytes.length) {
      if (crAt !== -1 && crAt < from) crAt = bytes.indexOf(CR, from);
      if (lfAt !== -1 && lfAt < from) lfAt = bytes.indexOf(LF, from);
      const end = crAt === -1 || (lfAt !== -1 && lfAt < crAt) ? lfAt : crAt;
      this.#readPiece(bytes.subarray(from, end === -1 ? bytes.length : end));
      if (end === -1) return;
      this.#endLine();
      from = end + 1;
    }
  }

  /** The data, or null when there is none to read. */
  take(): Buffer | null {
    this.#endLine();
    return this.#hasData ? this.#thinner.take() : null;
  }

  #readPiece(piece: Buffer): void {
    if (this.#line === 'data') this.#thinner.push(piece);
    if (this.#line !== 'start' || piece.length === 0) return;
    const start = this.#start.length === 0 ? piece : Buffer.concat([this.#start, piece]);
    if (start.length > DATA.length && DATA.equals(start.subarray(0, DATA.length))) {
      this.#beginData();
      this.#thinner.push(start.subarray(start[DATA.length] === SPACE ? DATA.length + 1 : DATA.length));
    } else if (start.length > MAX_LINE_START_BYTES) {
      this.#line = 'other';
      this.#start = Buffer.alloc(0);
    } else this.#start = Buffer.from(start);
  }

  /** Several lines of data are one text, with line ends in between. */
  #beginData(): void {
    if (this.#hasData) this.#thinner.push(NEWLINE);
    this.#hasData = true;
    this.#line = 'data';
    this.#start = Buffer.alloc(0);
  }

  #endLine(): void {
    if (this.#line === 'start' && this.#start.length > 0) {
      const text = this.#start.toString('utf8');
      if (text === 'data' || text === 'data:') this.#beginData();
      else if (text.startsWith(EVENT)) this.#eventType = text.slice(EVENT.length).replace(/^ /, '') || null;
    }
    this.#start = Buffer.alloc(0);
    this.#line = 'start';
  }
}
