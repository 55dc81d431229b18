/**
 * A segment of the index: for each gram of up to 64 stretches of the log, in which of them it stands. Grams are in
 * order, divided into 256 parts by their first byte, so that a question reads one small part of a segment.
 *
 * In a part, for each gram: its distance from the one before (from the first of the part) in groups of seven bits, then
 * the stretches: one byte below 64 for a single one; 64 + n and n bytes for a few; 128 and a mask of 64 bits for many.
 */

export const MAX_STRETCHES = 64;
const PARTS = 256;
const PART_BITS = 24;
/** With more stretches, the mask is shorter. */
const MAX_LISTED = 7;
const LISTED = 64;
const MASKED = 128;
/** A gram's distance takes at most four bytes, its stretches nine. */
const MAX_GRAM_BYTES = 13;

export interface Segment {
  /** 257 offsets. */
  readonly directory: readonly number[];
  readonly grams: Buffer;
  /** Stretches without grams here, since they have too many. */
  readonly saturated: readonly number[];
}

/** Sets of stretches, as bits. */
export interface Stretches {
  readonly low: number;
  readonly high: number;
}

export const NO_STRETCHES: Stretches = { low: 0, high: 0 };

export function hasStretch({ low, high }: Stretches, stretch: number): boolean {
  return ((stretch < 32 ? low >>> stretch : high >>> (stretch - 32)) & 1) === 1;
}

/** The grams of each stretch, at most 64, without repetitions; null for a saturated one. */
export function encodeSegment(stretches: readonly (Uint32Array | null)[]): Segment {
  if (stretches.length > MAX_STRETCHES) throw new RangeError('too many stretches for a segment');
  const found = gather(stretches);
  const bytes = Buffer.allocUnsafe(found.grams.length * MAX_GRAM_BYTES);
  const directory: number[] = [0];
  let length = 0;
  let before = 0;
  for (const gram of found.grams.sort()) {
    const part = partOf(gram);
    while (directory.length <= part) {
      directory.push(length);
      before = (directory.length - 1) * 2 ** PART_BITS;
    }
    length = writeStretches(bytes, writeDistance(bytes, length, gram - before), found.stretchesOf(gram));
    before = gram;
  }
  while (directory.length <= PARTS) directory.push(length);
  const saturated = stretches.flatMap((grams, stretch) => (grams === null ? [stretch] : []));
  return { directory, grams: Buffer.from(bytes.subarray(0, length)), saturated };
}

interface Gathered {
  readonly grams: Uint32Array;
  readonly stretchesOf: (gram: number) => Stretches;
}

/** A table with open addressing, at most half full. No gram is zero, which marks a free place. */
function gather(stretches: readonly (Uint32Array | null)[]): Gathered {
  const most = stretches.reduce((sum, grams) => sum + (grams?.length ?? 0), 0);
  const size = 2 ** Math.ceil(Math.log2(Math.max(2, most * 2)));
  const keys = new Uint32Array(size);
  const low = new Int32Array(size);
  const high = new Int32Array(size);
  const grams = new Uint32Array(most);
  let count = 0;
  const placeOf = (gram: number): number => {
    let place = gram & (size - 1);
    while (keys[place] !== gram && keys[place] !== 0) place = (place + 1) & (size - 1);
    return place;
  };
  for (const [stretch, own] of stretches.entries()) {
    const bit = 1 << (stretch & 31);
    const half = stretch < 32 ? low : high;
    for (const gram of own ?? []) {
      const place = placeOf(gram);
      if (keys[place] === 0) {
        keys[place] = gram;
        grams[count] = gram;
        count += 1;
      }
      half[place] = (half[place] ?? 0) | bit;
    }
  }
  return {
    grams: grams.subarray(0, count),
    stretchesOf(gram) {
      const place = placeOf(gram);
      return { low: low[place] ?? 0, high: high[place] ?? 0 };
    },
  };
}

function writeDistance(bytes: Buffer, at: number, distance: number): number {
  let place = at;
  let rest = distance;
  for (; rest > 127; rest = Math.floor(rest / 128)) {
    bytes[place] = 128 | (rest & 127);
    place += 1;
  }
  bytes[place] = rest;
  return place + 1;
}

function writeStretches(bytes: Buffer, at: number, { low, high }: Stretches): number {
  const count = countBits(low) + countBits(high);
  if (count > MAX_LISTED) {
    bytes[at] = MASKED;
    bytes.writeInt32LE(low, at + 1);
    bytes.writeInt32LE(high, at + 5);
    return at + 9;
  }
  let place = at;
  if (count > 1) {
    bytes[place] = LISTED + count;
    place += 1;
  }
  for (let rest = low; rest !== 0; rest &= rest - 1) {
    bytes[place] = 31 - Math.clz32(rest & -rest);
    place += 1;
  }
  for (let rest = high; rest !== 0; rest &= rest - 1) {
    bytes[place] = 63 - Math.clz32(rest & -rest);
    place += 1;
  }
  return place;
}

function countBits(half: number): number {
  let count = 0;
  for (let rest = half; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

export function countStretches({ low, high }: Stretches): number {
  return countBits(low) + countBits(high);
}

export function partOf(gram: number): number {
  return gram >>> PART_BITS;
}

/** The stretches of a gram; `part` has the bytes of its part. */
export function findGram(part: Buffer, gram: number): Stretches {
  let current = (gram >>> PART_BITS) * 2 ** PART_BITS;
  let place = 0;
  while (place < part.length) {
    let distance = 0;
    let scale = 1;
    let byte = part[place] ?? 0;
    for (; byte > 127; byte = part[place] ?? 0) {
      distance += (byte & 127) * scale;
      scale *= 128;
      place += 1;
    }
    current += distance + byte * scale;
    place += 1;
    if (current === gram) return readStretches(part, place);
    if (current > gram) break;
    const kind = part[place] ?? 0;
    place += kind === MASKED ? 9 : kind > LISTED ? 1 + kind - LISTED : 1;
  }
  return NO_STRETCHES;
}

function readStretches(part: Buffer, at: number): Stretches {
  const kind = part[at] ?? 0;
  if (kind === MASKED) return { low: part.readInt32LE(at + 1), high: part.readInt32LE(at + 5) };
  const list = kind > LISTED ? part.subarray(at + 1, at + 1 + kind - LISTED) : part.subarray(at, at + 1);
  let low = 0;
  let high = 0;
  for (const stretch of list) {
    if (stretch < 32) low |= 1 << stretch;
    else high |= 1 << (stretch - 32);
  }
  return { low, high };
}
