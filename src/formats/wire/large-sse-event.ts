/** An SSE event too large to hold, read line by line: its type, and its data as thinned JSON. */
import { JsonThinner } from './json-thinner.ts';

/** The kept start of a line: enough for its field name, and for the event's type. */
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
  /** The line's start until its field is known. */
  #start: Buffer = Buffer.alloc(0);
  #line: 'start' | 'data' | 'other' = 'start';

  get eventType(): string | null {
    return this.#eventType;
  }

  get length(): number {
    return this.#thinner.length + this.#start.length;
  }

  get isUnread(): boolean {
    return this.#thinner.isUnread;
  }

  /** `mayHaveLineEnd` false: the caller has looked already. */
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

  /** Null when there is no JSON data. */
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

  /** Data lines are joined with line ends. */
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
