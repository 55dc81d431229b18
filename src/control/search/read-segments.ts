/** The segments of a source's index, read from the latest on until what they offer is enough or time is spent. */
import type pg from 'pg';
import type { SearchSource } from './search-sources.ts';
import {
  countStretches,
  findGram,
  hasStretch,
  MAX_STRETCHES,
  NO_STRETCHES,
  partOf,
  type Stretches,
} from './segment.ts';
import { type TimeSpan, timeText } from './time-span.ts';

/** Segments that are looked into together: few first, since what is frequent stands in all of their stretches. */
const MAX_CHUNK = 512;
/** Segments by which the rarest grams are told, from all over the span: the newest calls may be of another kind. */
const SAMPLE = 4;
/** What is in more stretches of the sample leaves out too little to be read. */
const MAX_SHARE = 0.25;
const ALL_STRETCHES = Array.from({ length: MAX_STRETCHES }, (_, stretch) => stretch);

/** Grams that all stand in a text that matches. It lasts as long as a search, which may read several spans. */
export interface Needle {
  readonly grams: readonly number[];
  /** Those of them that are worth reading, in this order, as a sample of so many segments told. */
  rarest: readonly number[];
  segments: number;
}

export interface SegmentRow {
  readonly id: string;
  /** Of its latest call. */
  readonly lastMs: number;
  readonly saturated: readonly number[];
}

export interface SegmentReading {
  /** What the segments that were read offer, in no order. More than a call's arguments may be. */
  readonly spans: readonly TimeSpan[];
  readonly hasBegun: boolean;
  /** Before this time there may be matches in segments that were not read; null: all were. */
  readonly unreadTo: number | null;
  readonly readNext: () => Promise<void>;
}

/** Those that may have calls of the span, the latest first. */
export async function listSegments(
  client: pg.ClientBase,
  source: SearchSource,
  span: TimeSpan,
): Promise<readonly SegmentRow[]> {
  const { rows } = await client.query<SegmentRow>(
    `select id::text, (extract(epoch from last_at) * 1000)::float8 as "lastMs", saturated from ${source.segments}
     where first_at < $2 and first_at >= $1::timestamptz - interval '1 day' and last_at >= $1 order by first_at desc`,
    [timeText(span.from), timeText(span.to)],
  );
  return rows;
}

/** `most`: spans that are wanted, which decides how many segments are read at first. */
export async function openSegments(
  client: pg.ClientBase,
  source: SearchSource,
  segments: readonly SegmentRow[],
  needle: Needle,
  most: number,
): Promise<SegmentReading> {
  const unread = [...segments];
  // The few segments of a first slice may be of another kind than all the others.
  if (unread.length > needle.segments * SAMPLE) await orderGrams(client, source, needle, unread);
  const spans: TimeSpan[] = [];
  let chunk = Math.min(MAX_CHUNK, Math.ceil(most / MAX_STRETCHES));
  let hasBegun = false;
  return {
    spans,
    get hasBegun() {
      return hasBegun;
    },
    get unreadTo() {
      // A segment may reach further than those before it, by calls that came late.
      return unread.length === 0 ? null : unread.reduce((latest, { lastMs }) => Math.max(latest, lastMs), 0) + 1;
    },
    async readNext() {
      hasBegun = true;
      // One by one: they may be more than the arguments of a call.
      for (const found of await findInSegments(client, source, needle, unread.splice(0, chunk))) spans.push(found);
      chunk = Math.min(MAX_CHUNK, chunk * 2);
    },
  };
}

/** Reads the part of each segment that has the gram, if it has it. */
async function readParts(
  client: pg.ClientBase,
  { segments }: SearchSource,
  ids: readonly string[],
  gram: number,
): Promise<ReadonlyMap<string, Stretches>> {
  const part = partOf(gram);
  const { rows } = await client.query<{ readonly id: string; readonly bytes: Buffer }>(
    `select id::text, substr(grams, directory[$2] + 1, directory[$2 + 1] - directory[$2]) as bytes
     from ${segments} where id = any($1::int8[])`,
    [ids, part + 1],
  );
  return new Map(rows.map(({ id, bytes }) => [id, findGram(bytes, gram)]));
}

function spread<T>(items: readonly T[], count: number): readonly T[] {
  const step = Math.ceil(items.length / count);
  return items.filter((_, index) => index % step === 0);
}

async function orderGrams(
  client: pg.ClientBase,
  source: SearchSource,
  needle: Needle,
  segments: readonly SegmentRow[],
): Promise<void> {
  const sample = spread(segments, SAMPLE);
  const counted: { readonly gram: number; readonly stretches: number }[] = [];
  for (const gram of needle.grams) {
    const found = await readParts(
      client,
      source,
      sample.map(({ id }) => id),
      gram,
    );
    counted.push({ gram, stretches: [...found.values()].reduce((sum, bits) => sum + countStretches(bits), 0) });
  }
  const most = sample.length * MAX_STRETCHES * MAX_SHARE;
  needle.rarest = counted
    .sort((a, b) => a.stretches - b.stretches)
    .filter(({ stretches }, index) => index === 0 || stretches <= most)
    .map(({ gram }) => gram);
  needle.segments = segments.length;
}

async function findInSegments(
  client: pg.ClientBase,
  source: SearchSource,
  { rarest }: Needle,
  segments: readonly SegmentRow[],
): Promise<readonly TimeSpan[]> {
  let left = new Map<string, Stretches>(segments.map(({ id }) => [id, { low: -1, high: -1 }]));
  for (const gram of rarest) {
    const read = await readParts(client, source, [...left.keys()], gram);
    left = new Map(
      [...left]
        .map(([id, { low, high }]) => {
          const bits = read.get(id);
          return [id, { low: low & (bits?.low ?? 0), high: high & (bits?.high ?? 0) }] as const;
        })
        .filter(([, { low, high }]) => low !== 0 || high !== 0),
    );
    if (left.size === 0) break;
  }
  const saturated = new Map(segments.map((segment) => [segment.id, segment.saturated]));
  const wanted = segments.filter(({ id }) => left.has(id) || (saturated.get(id)?.length ?? 0) > 0).map(({ id }) => id);
  return wanted.length === 0 ? [] : readStretches(client, source, wanted, left, saturated);
}

/** Only the times of stretches that are offered are read: of all of them, reading would be most of a search. */
async function readStretches(
  client: pg.ClientBase,
  { segments }: SearchSource,
  ids: readonly string[],
  found: ReadonlyMap<string, Stretches>,
  saturated: ReadonlyMap<string, readonly number[]>,
): Promise<readonly TimeSpan[]> {
  const offered = ids.flatMap((id) => {
    const bits = found.get(id) ?? NO_STRETCHES;
    const full = saturated.get(id) ?? [];
    return ALL_STRETCHES.filter((stretch) => hasStretch(bits, stretch) || full.includes(stretch)).map((stretch) => ({
      id,
      place: stretch + 1,
    }));
  });
  const { rows } = await client.query<TimeSpan>(
    `select floor(extract(epoch from s.starts[w.place]) * 1000)::float8 as "from",
       floor(extract(epoch from s.ends[w.place]) * 1000)::float8 + 1 as "to"
     from unnest($1::int8[], $2::int4[]) w (id, place) join ${segments} s on s.id = w.id
     where s.starts[w.place] is not null`,
    [offered.map(({ id }) => id), offered.map(({ place }) => place)],
  );
  return rows;
}
