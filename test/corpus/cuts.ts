/** The ways in which the bytes of a case are cut into packets: a reader must take them all the same. */
import { createSeededRandom } from '../proxy/seeded-random.ts';
import { cutBytes } from '../scripted-answer.ts';
import type { CutBytes } from './replay-requests.ts';

export interface Cut {
  readonly name: string;
  readonly cut: CutBytes;
  /** Between two pieces. */
  readonly gapMs: number;
}

export const WHOLE: Cut = { name: 'whole', cut: (bytes) => [bytes], gapMs: 0 };

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
      return cutBytes(bytes, [near, Math.floor(random() * bytes.length)]);
    },
    gapMs: 1,
  };
}

/** Beyond its beginning a large case is one piece. */
export const BYTE_BY_BYTE: Cut = {
  name: 'byte by byte',
  cut: (bytes) =>
    cutBytes(
      bytes,
      Array.from({ length: Math.min(bytes.length, 700) }, (_, at) => at),
    ),
  gapMs: 0,
};
