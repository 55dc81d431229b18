/**
 * Distributions of whole numbers, such as milliseconds: DDSketches, whose percentiles are within 1 %. They are added in
 * any order and, as sums can, taken back. Their bytes are varints, since the library's own take eight bytes a bucket
 * (decision 0045).
 */
import { DDSketch } from '@datadog/sketches-js';
import { PbfReader, PbfWriter } from 'pbf';

export type Distribution = DDSketch;

const ACCURACY = 0.01;
const NOTHING_PACKED = Buffer.alloc(0);
/** One for all, since a new one costs more than what is mostly written: a few bytes. */
const WRITER = new PbfWriter();

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
function packPlaces(places: Iterable<readonly [place: number, times: number]>): Buffer {
  WRITER.pos = 0;
  let before = 0;
  for (const [place, times] of places) {
    WRITER.writeVarint(place - before);
    WRITER.writeSVarint(times);
    before = place;
  }
  return Buffer.from(WRITER.buf.subarray(0, WRITER.pos));
}

export function packDistribution({ zeroCount, store }: Distribution): Buffer {
  const places: [number, number][] = zeroCount === 0 ? [] : [[0, zeroCount]];
  for (let key = store.minKey; key <= store.maxKey; key += 1) {
    const times = store.bins[key - store.offset] ?? 0;
    if (times !== 0) places.push([key + 1, times]);
  }
  return packPlaces(places);
}

/** Counts by place, for the few values of a batch: a sketch takes room for a hundred buckets. */
export type Tally = Map<number, number>;

const { mapping: MAPPING } = createDistribution();

/** A value's place in the packed form. */
export function placeOf(value: number): number {
  return value <= 0 ? 0 : MAPPING.key(value) + 1;
}

export function addToTally(tally: Tally, place: number, times: number): void {
  tally.set(place, (tally.get(place) ?? 0) + times);
}

export function packTally(tally: Tally): Buffer {
  const counted = [...tally].filter(([, times]) => times !== 0);
  return counted.length === 0 ? NOTHING_PACKED : packPlaces(counted.sort(([a], [b]) => a - b));
}

function readPacked(packed: Uint8Array, take: (place: number, times: number) => void): void {
  const reader = new PbfReader(packed);
  let place = 0;
  while (reader.pos < reader.length) {
    place += reader.readVarint();
    take(place, reader.readSVarint());
  }
}

export function addPacked(distribution: Distribution, packed: Uint8Array, sign: 1 | -1 = 1): void {
  readPacked(packed, (place, times) => addToBucket(distribution, place === 0 ? null : place - 1, sign * times));
}

export function addPackedToTally(tally: Tally, packed: Uint8Array): void {
  readPacked(packed, (place, times) => addToTally(tally, place, times));
}

/** The least value that is not below the share of all, to a whole number, for each share; null without values. */
export function percentilesOf(distribution: Distribution, shares: readonly number[]): readonly (number | null)[] {
  const { count } = distribution;
  // The sketch's quantile q is the value before which there are q * (count - 1) others, rounded down.
  const valueAt = (before: number) => distribution.getValueAtQuantile(Math.min(1, (before + 0.5) / (count - 1)));
  return shares.map((share) => (count === 0 ? null : Math.round(valueAt(Math.ceil(share * count) - 1))));
}
