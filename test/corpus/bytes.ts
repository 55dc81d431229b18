/**
 * What is done to bytes before a reader gets them: changes in a few places, and the ways in which they can be cut. For both
 * ways in, the replayed cases and the random ones.
 */
import fc from 'fast-check';
import { createSeededRandom } from '../proxy/seeded-random.ts';

type Change =
  | { readonly kind: 'flip'; readonly at: number; readonly bit: number }
  | { readonly kind: 'set'; readonly at: number; readonly byte: number }
  | { readonly kind: 'insert'; readonly at: number; readonly token: number }
  | { readonly kind: 'remove'; readonly at: number; readonly count: number }
  | { readonly kind: 'repeat'; readonly at: number; readonly count: number }
  | { readonly kind: 'splice'; readonly at: number; readonly seed: number; readonly from: number }
  | { readonly kind: 'truncate'; readonly at: number };

const place = fc.nat(1 << 20);
const LONGEST_STRETCH = 300;
const MOST_CHANGES = 6;
const MOST_CUTS = 6;

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), at: place, bit: fc.nat(7) }),
  fc.record({ kind: fc.constant('set' as const), at: place, byte: fc.nat(255) }),
  fc.record({ kind: fc.constant('insert' as const), at: place, token: place }),
  fc.record({ kind: fc.constant('remove' as const), at: place, count: fc.nat(LONGEST_STRETCH) }),
  fc.record({ kind: fc.constant('repeat' as const), at: place, count: fc.nat(LONGEST_STRETCH) }),
  fc.record({ kind: fc.constant('splice' as const), at: place, seed: place, from: place }),
  fc.record({ kind: fc.constant('truncate' as const), at: place }),
);

/** One of `seeds` with up to six changes; `tokens` are what means something to the reader under test. */
export function mutated(seeds: readonly Buffer[], tokens: readonly (Buffer | string)[]): fc.Arbitrary<Buffer> {
  const inserts = tokens.map((token) => (typeof token === 'string' ? Buffer.from(token, 'latin1') : token));
  return fc
    .tuple(place, fc.array(change, { maxLength: MOST_CHANGES }))
    .map(([seed, changes]) =>
      changes.reduce((bytes, next) => apply(bytes, next, seeds, inserts), pick(seeds, seed) ?? Buffer.alloc(0)),
    );
}

export function pick<T>(list: readonly T[], number: number): T | undefined {
  return list[number % Math.max(1, list.length)];
}

function apply(bytes: Buffer, next: Change, seeds: readonly Buffer[], tokens: readonly Buffer[]): Buffer {
  const at = bytes.length === 0 ? 0 : next.at % (bytes.length + 1);
  switch (next.kind) {
    case 'flip':
    case 'set': {
      if (at === bytes.length) return bytes;
      const copy = Buffer.from(bytes);
      copy[at] = next.kind === 'set' ? next.byte : (bytes[at] ?? 0) ^ (1 << next.bit);
      return copy;
    }
    case 'insert':
      return Buffer.concat([bytes.subarray(0, at), pick(tokens, next.token) ?? Buffer.alloc(0), bytes.subarray(at)]);
    case 'remove':
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + next.count)]);
    case 'repeat':
      return Buffer.concat([bytes.subarray(0, at + next.count), bytes.subarray(at)]);
    case 'splice': {
      const other = pick(seeds, next.seed) ?? Buffer.alloc(0);
      return Buffer.concat([bytes.subarray(0, at), other.subarray(other.length === 0 ? 0 : next.from % other.length)]);
    }
    case 'truncate':
      return bytes.subarray(0, at);
  }
}

/** Where to cut: at some places, or behind every byte. */
export type Cuts = readonly number[] | 'every byte';

export const cuts: fc.Arbitrary<Cuts> = fc.oneof(
  { arbitrary: fc.array(place, { minLength: 1, maxLength: MOST_CUTS }), weight: 4 },
  { arbitrary: fc.constant('every byte' as const), weight: 1 },
);

/** Beyond this `every byte` is every 7 bytes, which takes a seventh of the time. */
const MOST_PIECES = 4_000;
const STRIDE = 7;

/** Copies: none may read beyond its own piece, or change it. */
export function cutInto(bytes: Buffer, where: Cuts): Buffer[] {
  if (where === 'every byte') {
    const step = bytes.length > MOST_PIECES ? STRIDE : 1;
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += step) pieces.push(Buffer.from(bytes.subarray(at, at + step)));
    return pieces;
  }
  const edges = [...new Set([0, ...where.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  return edges.slice(1).map((end, index) => Buffer.from(bytes.subarray(edges[index], end)));
}

/** How a replayed case is cut into packets: a reader must take them all the same. */
export interface Cut {
  readonly name: string;
  readonly cut: (bytes: Buffer) => readonly Buffer[];
  /** Between two pieces. */
  readonly gapMs: number;
}

export const WHOLE: Cut = { name: 'whole', cut: (bytes) => [bytes], gapMs: 0 };

/** Beyond its beginning a large case is one piece. */
export const BYTE_BY_BYTE: Cut = {
  name: 'byte by byte',
  cut: (bytes) => cutInto(bytes, [...bytes.subarray(0, 700).keys()]),
  gapMs: 0,
};

/** Where lines, headers and bodies meet, readers keep state. */
export function atLineEnds(seed: number): Cut {
  const random = createSeededRandom(seed);
  return {
    name: `two cuts, seed ${seed}`,
    cut: (bytes) => {
      const ends = [...bytes.subarray(0, 4_096).entries()].flatMap(([at, byte]) =>
        byte === 0x0d || byte === 0x0a ? [at] : [],
      );
      const near = (ends[Math.floor(random() * ends.length)] ?? 0) + Math.floor(random() * 2);
      return cutInto(bytes, [near, Math.floor(random() * bytes.length)]);
    },
    gapMs: 1,
  };
}
