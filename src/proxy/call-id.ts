/**
 * The id of a call: a UUIDv7 (RFC 9562 5.7) made on arrival, ascending within a process also when the clock steps back.
 * Not by the `uuid` package: random bytes are drawn for many ids at once, and the text is made in one piece instead of
 * twenty, which takes a quarter of the time.
 */
import { randomFillSync } from 'node:crypto';

const RANDOM_BYTES = 16;
const IDS_PER_DRAW = 256;
/** The sequence within a millisecond has 32 bits; it starts in the lower half, so that it cannot run over. */
const FIRST_SEQUENCE_MASK = 0x7fffffff;
const TEXT_BYTES = 36;
const DIGITS = Buffer.from('0123456789abcdef', 'latin1');
const DASH = 0x2d;

export interface CallId {
  readonly id: string;
  /** The millisecond in the id. */
  readonly timeMs: number;
}

export function createCallIds(now: () => number = Date.now): () => CallId {
  const pool = Buffer.alloc(RANDOM_BYTES * IDS_PER_DRAW);
  const bytes = Buffer.alloc(RANDOM_BYTES);
  const text = Buffer.alloc(TEXT_BYTES);
  let at = pool.length;
  let timeMs = 0;
  let sequence = 0;
  return () => {
    if (at === pool.length) {
      randomFillSync(pool);
      at = 0;
    }
    const nowMs = now();
    if (nowMs > timeMs) {
      timeMs = nowMs;
      sequence = pool.readUInt32BE(at) & FIRST_SEQUENCE_MASK;
    } else {
      sequence += 1;
    }
    // 48 bits of time, version, 12 bits of the sequence, variant, its other 20 bits, 42 random bits.
    bytes.writeUIntBE(timeMs, 0, 6);
    bytes[6] = 0x70 | (sequence >>> 28);
    bytes[7] = sequence >>> 20;
    bytes[8] = 0x80 | ((sequence >>> 14) & 0x3f);
    bytes[9] = sequence >>> 6;
    bytes[10] = (sequence << 2) | ((pool[at + 10] ?? 0) & 0x03);
    pool.copy(bytes, 11, at + 11, at + RANDOM_BYTES);
    at += RANDOM_BYTES;
    return { id: writeText(bytes, text), timeMs };
  };
}

/** `text` is room for it. */
function writeText(bytes: Buffer, text: Buffer): string {
  let at = 0;
  for (let index = 0; index < RANDOM_BYTES; index += 1) {
    const byte = bytes[index] ?? 0;
    if (index === 4 || index === 6 || index === 8 || index === 10) text[at++] = DASH;
    text[at++] = DIGITS[byte >> 4] ?? 0;
    text[at++] = DIGITS[byte & 0x0f] ?? 0;
  }
  return text.toString('latin1');
}
