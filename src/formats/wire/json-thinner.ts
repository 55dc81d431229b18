/**
 * Makes a small JSON text of a large one as it streams: long strings, rows of numbers and unread members (vectors,
 * probabilities) are cut, and every small member stays. It does not validate; the parser of its result does.
 */

import { endOfRow, skipLevels } from './json-skip.ts';

export const MAX_KEPT_BYTES = 1024 * 1024;
/** Reserved for what follows a value: usage stands behind the answer. */
const RESERVED_BYTES = 32 * 1024;
/** A member is left out when less room is left. */
const LEAST_ROOM_BYTES = 64;
/** Error texts stand on the upper levels and are read. */
const MAX_UPPER_STRING_BYTES = 4 * 1024;
const MAX_DEEP_STRING_BYTES = 256;
const UPPER_LEVELS = 3;
const MAX_NUMBERS = 4;
const MAX_SCALAR_BYTES = 256;
/** Bounds a value that is not read. */
const MAX_IDLE_BYTES = 512;
const MAX_LEVELS = 64;
const FIRST_BLOCK_BYTES = 16 * 1024;

/** Members that say nothing of usage and may be most of an answer; their omission is not flagged. */
const IDLE_NAMES: ReadonlySet<string> = new Set([
  'embedding',
  'values',
  'logprobs',
  'top_logprobs',
  'logprobsResult',
  'prompt_logprobs',
  'bytes',
  'tokens',
  'token_ids',
  'prompt_token_ids',
  'annotations',
  'citations',
  'args',
  'arguments',
  'input',
  'words',
  'segments',
]);
const MAX_IDLE_NAME_BYTES = 16;
/** Escapes are walked this far before the next search. */
const WALK_BYTES = 64;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const BRACE = 123;
const BRACKET = 91;
const LETTER_U = 117;
const SPACE = 32;
const UNICODE_DIGITS = 4;
const BOM: readonly number[] = [0xef, 0xbb, 0xbf];

const OTHER = 0;
const BLANK = 1;
const MARK = 2;
const KINDS = new Uint8Array(256);
for (const blank of ' \t\r\n') KINDS[blank.charCodeAt(0)] = BLANK;
for (const mark of '"{}[],:') KINDS[mark.charCodeAt(0)] = MARK;
type State = 'between' | 'kept-string' | 'cut-string' | 'left-out' | 'left-out-string' | 'over' | 'given-up';

/** An open container that is kept. */
interface Level {
  readonly isArray: boolean;
  readonly isIdle: boolean;
  /** How long the result may become within it. */
  readonly limit: number;
  count: number;
  numbers: number;
  hasName: boolean;
  isNextIdle: boolean;
}

export class JsonThinner {
  #out = Buffer.allocUnsafe(FIRST_BLOCK_BYTES);
  #length = 0;
  readonly #levels: Level[] = [];
  #level: Level | null = null;
  #state: State = 'between';
  #hasBegun = false;
  #isUnread = false;
  /** A comma came, which is written before the next kept member. */
  #isMemberNext = true;
  /** Bytes of the number or word being written, and whether a blank ended it. */
  #scalarBytes = 0;
  #isScalarOver = false;
  /** The string's start in the result, how much may be kept, and what is left of an escape. */
  #stringStart = 0;
  #stringLimit = 0;
  #escapeBytes = 0;
  /** The next byte of a string that is left out is escaped. */
  #isEscaped = false;
  #leftOutLevels = 0;

  /** Something was left out that may have mattered. */
  get isUnread(): boolean {
    return this.#isUnread || this.#state === 'given-up';
  }

  get length(): number {
    return this.#length;
  }

  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      switch (this.#state) {
        case 'between':
          at = this.#readBetween(bytes, at);
          break;
        case 'kept-string':
          at = this.#keepString(bytes, at);
          break;
        case 'cut-string':
          at = this.#passString(bytes, at, 'between');
          break;
        case 'left-out':
          at = this.#leaveOut(bytes, at);
          break;
        case 'left-out-string':
          at = this.#passString(bytes, at, 'left-out');
          break;
        case 'over':
        case 'given-up':
          return;
      }
    }
  }

  /** Null when the text was not JSON. */
  take(): Buffer | null {
    return this.#state === 'given-up' || this.#length === 0 ? null : this.#out.subarray(0, this.#length);
  }

  #readBetween(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length) {
      const byte = bytes[at] ?? 0;
      const kind = KINDS[byte];
      if (kind === BLANK) {
        if (this.#scalarBytes > 0) this.#isScalarOver = true;
        at += 1;
      } else if (kind === OTHER) {
        if (!this.#keepScalarByte(byte)) return at;
        at += 1;
      } else {
        this.#scalarBytes = 0;
        this.#isScalarOver = false;
        if (!this.#readMark(byte)) return at;
        at += 1;
        if (this.#state !== 'between') return at;
      }
    }
    return at;
  }

  /** False: the state changed, and the byte must be looked at again. */
  #keepScalarByte(byte: number): boolean {
    if (this.#scalarBytes === 0) {
      const level = this.#level;
      if (level === null) return BOM.includes(byte) && !this.#hasBegun ? true : this.#giveUp();
      if (level.isArray) {
        level.numbers += 1;
        if (level.numbers > MAX_NUMBERS) return this.#beginLeavingOut(false);
      }
      if (!this.#beginValue()) return false;
    } else if (this.#scalarBytes > MAX_SCALAR_BYTES) return this.#giveUp();
    if (this.#isScalarOver) {
      // Two words in a row are invalid and must not become valid.
      this.#isScalarOver = false;
      this.#write(SPACE);
    }
    this.#scalarBytes += 1;
    this.#write(byte);
    return true;
  }

  #readMark(byte: number): boolean {
    const level = this.#level;
    switch (byte) {
      case QUOTE:
        return this.#beginString();
      case BRACE:
      case BRACKET:
        return this.#open(byte === BRACKET);
      case COMMA:
        if (level === null) return this.#giveUp();
        this.#isMemberNext = true;
        level.hasName = false;
        return true;
      case COLON:
        if (level === null) return this.#giveUp();
        this.#write(byte);
        return true;
      default:
        return this.#close(byte);
    }
  }

  #beginValue(): boolean {
    const level = this.#level;
    if (level === null) {
      if (this.#hasBegun) return this.#giveUp();
      this.#hasBegun = true;
      return true;
    }
    if (!this.#isMemberNext) return true;
    if (level.limit - this.#length < LEAST_ROOM_BYTES) return this.#beginLeavingOut(!level.isIdle);
    this.#isMemberNext = false;
    if (level.count > 0) this.#write(COMMA);
    level.count += 1;
    return true;
  }

  #beginString(): boolean {
    if (!this.#beginValue()) return false;
    const level = this.#level;
    const room = level === null ? MAX_DEEP_STRING_BYTES : Math.max(0, level.limit - this.#length);
    const most = this.#levels.length <= UPPER_LEVELS ? MAX_UPPER_STRING_BYTES : MAX_DEEP_STRING_BYTES;
    this.#write(QUOTE);
    this.#stringStart = this.#length;
    this.#stringLimit = this.#length + Math.min(most, room);
    this.#state = 'kept-string';
    return true;
  }

  #open(isArray: boolean): boolean {
    if (!this.#beginValue()) return false;
    const above = this.#level;
    const isIdle = above !== null && (above.isIdle || above.isNextIdle);
    if (this.#levels.length >= MAX_LEVELS) return this.#giveUp();
    const room = (above?.limit ?? MAX_KEPT_BYTES) - this.#length;
    const share = Math.max(room - RESERVED_BYTES, room >> 1, 0);
    const limit = this.#length + (isIdle ? Math.min(share, MAX_IDLE_BYTES) : share);
    this.#level = { isArray, isIdle, limit, count: 0, numbers: 0, hasName: false, isNextIdle: false };
    this.#levels.push(this.#level);
    this.#isMemberNext = true;
    this.#write(isArray ? BRACKET : BRACE);
    return true;
  }

  #close(byte: number): boolean {
    if (this.#levels.pop() === undefined) return this.#giveUp();
    this.#level = this.#levels.at(-1) ?? null;
    this.#isMemberNext = false;
    this.#write(byte);
    return true;
  }

  #keepString(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.#escapeBytes > 0) {
        // The first byte of an escape gives its length.
        if (this.#escapeBytes > UNICODE_DIGITS) this.#escapeBytes = byte === LETTER_U ? UNICODE_DIGITS : 0;
        else this.#escapeBytes -= 1;
      } else if (byte === QUOTE) {
        this.#endString();
        return at + 1;
      } else if (this.#length >= this.#stringLimit) {
        this.#state = 'cut-string';
        this.#isEscaped = false;
        return at;
      } else if (byte === BACKSLASH) this.#escapeBytes = UNICODE_DIGITS + 1;
      this.#write(byte);
    }
    return bytes.length;
  }

  #passString(bytes: Buffer, from: number, next: State): number {
    let at = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at += 1;
    }
    while (at < bytes.length) {
      const found = bytes.indexOf(QUOTE, at);
      const first = bytes.subarray(at, found === -1 ? bytes.length : found).indexOf(BACKSLASH);
      if (first === -1) {
        if (found === -1) return bytes.length;
        this.#state = next;
        if (next === 'between') this.#endString();
        return found + 1;
      }
      // Escapes come in runs: some are walked before the next search.
      at += first;
      const walkEnd = Math.min(bytes.length, at + WALK_BYTES);
      while (at < walkEnd && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
      if (at > bytes.length) this.#isEscaped = true;
    }
    return bytes.length;
  }

  #endString(): void {
    const level = this.#level;
    const nameBytes = this.#length - this.#stringStart;
    if (level !== null && !level.isArray && !level.hasName) {
      level.hasName = true;
      level.isNextIdle =
        nameBytes <= MAX_IDLE_NAME_BYTES &&
        IDLE_NAMES.has(this.#out.toString('latin1', this.#stringStart, this.#length));
    }
    this.#write(QUOTE);
    this.#state = 'between';
  }

  #beginLeavingOut(mattered: boolean): false {
    if (mattered) this.#isUnread = true;
    this.#leftOutLevels = 0;
    this.#state = 'left-out';
    return false;
  }

  /** Skips to the end of a member: a comma or its container's end. */
  #leaveOut(bytes: Buffer, from: number): number {
    let at = this.#leftOutLevels === 0 && this.#isRow() ? endOfRow(bytes, from) : from;
    while (at < bytes.length) {
      if (this.#leftOutLevels > 0) {
        const skipped = skipLevels(bytes, at, this.#leftOutLevels);
        at = skipped.at;
        this.#leftOutLevels = skipped.levels;
        if (skipped.cut !== 'no') return this.#leaveOutString(at, skipped.cut === 'escape');
        continue;
      }
      const byte = bytes[at] ?? 0;
      if (KINDS[byte] !== MARK || byte === COLON) at += 1;
      else if (byte === QUOTE) return this.#leaveOutString(at + 1, false);
      else if (byte === BRACE || byte === BRACKET) {
        this.#leftOutLevels = 1;
        at += 1;
      } else if (byte === COMMA && this.#isRow()) at += 1;
      else {
        this.#state = 'between';
        return at;
      }
    }
    return at;
  }

  #leaveOutString(at: number, isEscaped: boolean): number {
    this.#isEscaped = isEscaped;
    this.#state = 'left-out-string';
    return at;
  }

  #isRow(): boolean {
    return this.#level?.isArray === true && this.#level.numbers > MAX_NUMBERS;
  }

  /** Invalid, or trailing data: one byte of it is kept so that the result does not parse. */
  #giveUp(): false {
    if (this.#hasBegun && this.#level === null) {
      this.#write(COMMA);
      this.#state = 'over';
      return false;
    }
    this.#state = 'given-up';
    this.#out = Buffer.alloc(0);
    this.#length = 0;
    return false;
  }

  #write(byte: number): void {
    if (this.#length === this.#out.length) {
      const larger = Buffer.allocUnsafe(this.#out.length * 2);
      this.#out.copy(larger);
      this.#out = larger;
    }
    this.#out[this.#length] = byte;
    this.#length += 1;
  }
}
