/**
 * Distributions of whole numbers, such as milliseconds: DDSketches, whose percentiles are within 1 %. They are added in
 * any order and, as sums can, taken back. Their bytes are varints, since the library's own take eight bytes a bucket
 * (decision 0045).
 */
import { DDSketch } from '@datadog/sketches-js';
import { PbfReader, PbfWriter } from 'pbf';

export type Distribution = DDSketch;

const ACCURACY = 0.01;

/** A key of the sketch's store; null is for 0, which the sketch counts apart. */
type Bucket = number | null;

export function createDistribution(): Distribution {
  return new DDSketch({ relativeAccuracy: ACCURACY });
}

/** Below 0 `times` takes back what was or will be added, which the sketch's `accept` refuses. */
function addToBucket(distribution: Distribution, bucket: Bucket, times: number): void {
  if (bucket === null) distribution.zeroCount += times;
  else distribution.store.add(bucket, times);
  distribution.count += times;
}

export function addValue(distribution: Distribution, value: number, times: number): void {
  addToBucket(distribution, value <= 0 ? null : distribution.mapping.key(value), times);
}

/** `list` is whole numbers with spaces between. */
export function addValues(distribution: Distribution, list: string, sign: 1 | -1 = 1): void {
  for (const value of list.split(' ')) addValue(distribution, Number(value), sign);
}

/** For each bucket in order, its distance from the one before and its count, as varints; 0 is the first bucket. */
export function packDistribution({ zeroCount, store }: Distribution): Buffer {
  const writer = new PbfWriter();
  let before = 0;
  const write = (place: number, times: number) => {
    if (times === 0) return;
    writer.writeVarint(place - before);
    writer.writeSVarint(times);
    before = place;
  };
  write(0, zeroCount);
  for (let key = store.minKey; key <= store.maxKey; key += 1) write(key + 1, store.bins[key - store.offset] ?? 0);
  return Buffer.from(writer.finish());
}

export function addPacked(distribution: Distribution, packed: Uint8Array, sign: 1 | -1 = 1): void {
  const reader = new PbfReader(packed);
  let place = 0;
  while (reader.pos < reader.length) {
    place += reader.readVarint();
    addToBucket(distribution, place === 0 ? null : place - 1, sign * reader.readSVarint());
  }
}

/** The least value that is not below the share of all, to a whole number, for each share; null without values. */
export function percentilesOf(distribution: Distribution, shares: readonly number[]): readonly (number | null)[] {
  const { count } = distribution;
  // The sketch's quantile q is the value before which there are q * (count - 1) others, rounded down.
  const valueAt = (before: number) => distribution.getValueAtQuantile(Math.min(1, (before + 0.5) / (count - 1)));
  return shares.map((share) => (count === 0 ? null : Math.round(valueAt(Math.ceil(share * count) - 1))));
}
