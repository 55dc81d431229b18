/**
 * Where in the log a text may stand, by the index: windows of time in which every match is. What is not indexed yet is
 * among them. The caller compares the calls in them exactly.
 */
import type pg from 'pg';
import { z } from 'zod';
import { DAY_MS } from '../store/partitions.ts';
import { readNeedle } from './grams.ts';
import { SEARCH_SOURCES, type SearchSource } from './search-sources.ts';
import {
  countStretches,
  findGram,
  hasStretch,
  MAX_STRETCHES,
  NO_STRETCHES,
  partOf,
  type Stretches,
} from './segment.ts';

/** Milliseconds; `to` is exclusive. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** What a match may stand in there. */
export interface SearchWindow extends TimeSpan {
  readonly inCalls: boolean;
  readonly inTexts: boolean;
}

export interface Search {
  readonly text: string;
  /** In order of time and apart from each other, within the span. Ends may be infinite. */
  readonly windowsIn: (span: TimeSpan) => Promise<readonly SearchWindow[]>;
  /** The latest ones, where there are more than are worth asking all at once; then the index is not read to its end. */
  readonly fewWindowsIn: (span: TimeSpan) => Promise<FewWindows>;
}

export interface FewWindows {
  readonly windows: readonly SearchWindow[];
  /** They are all that there are since this time; null: all of the span. */
  readonly since: number | null;
}

/** Of each source. Reading them takes some 100 ms. */
const FEW_WINDOWS = 2_000;

/** With more calls that wait for their segment, the indexing has fallen behind, and all is read. */
const MAX_WAITING_CALLS = 20_000;
/** Calls that wait are read together with all calls between them. Even a busy log has few in such a time; a window takes 25 µs. */
const WAITING_GAP_MS = 1_000;
/** Segments that are looked into together: few first, since what is frequent stands in all of their stretches. */
const MAX_CHUNK = 512;
/** Segments by which the rarest grams are told, from all over the window: the newest calls may be of another kind. */
const SAMPLE = 4;
/** What is in more stretches of the sample leaves out too little to be read. */
const MAX_SHARE = 0.25;
const ALL_STRETCHES = Array.from({ length: MAX_STRETCHES }, (_, stretch) => stretch);

/** The client is in a transaction of one snapshot, with which the search ends. */
export async function openSearch(
  client: pg.ClientBase,
  text: string,
  sources: readonly SearchSource[] = SEARCH_SOURCES,
  fewWindows: number = FEW_WINDOWS,
): Promise<Search> {
  const { part, whole } = readNeedle(text);
  const all = (span: TimeSpan) => [{ ...span, inCalls: true, inTexts: true }];
  const everywhere: Search = {
    text,
    windowsIn: async (span) => all(span),
    fewWindowsIn: async (span) => ({ windows: all(span), since: null }),
  };
  if (part.length === 0) return everywhere;
  const open: SourceSearch[] = [];
  for (const source of sources) {
    const waiting = await listWaiting(client, source);
    if (waiting === null) return everywhere;
    open.push({
      source,
      waiting,
      alternatives: [
        { all: part, rarest: part, segments: 0 },
        { all: [whole], rarest: [whole], segments: Number.POSITIVE_INFINITY },
      ],
    });
  }
  async function find(span: TimeSpan, most: number): Promise<FewWindows> {
    const found: Record<SearchSource['name'], (readonly TimeSpan[])[]> = { calls: [], texts: [] };
    let since: number | null = null;
    for (const { source, waiting, alternatives } of open) {
      found[source.name].push(waiting);
      for (const alternative of alternatives) {
        const { spans, unreadTo } = await findInSegments(client, source, alternative, span, most);
        // A segment that was not read may reach beyond the span.
        if (unreadTo !== null) since = Math.min(span.to, Math.max(since ?? span.from, unreadTo));
        found[source.name].push(spans);
      }
    }
    const read = { from: since ?? span.from, to: span.to };
    const windows = overlay(joinSpans(found.calls.flat(), read, 0), joinSpans(found.texts.flat(), read, 0));
    return { windows, since };
  }
  return {
    text,
    windowsIn: async (span) => (await find(span, Number.POSITIVE_INFINITY)).windows,
    fewWindowsIn: (span) => find(span, fewWindows),
  };
}

/** The spans of both, in order, cut where one of them begins or ends. */
function overlay(calls: readonly TimeSpan[], texts: readonly TimeSpan[]): readonly SearchWindow[] {
  const edges = [...new Set([...calls, ...texts].flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  const windows: SearchWindow[] = [];
  let call = 0;
  let text = 0;
  for (const [index, from] of edges.entries()) {
    const to = edges[index + 1];
    if (to === undefined) break;
    while ((calls[call]?.to ?? Number.POSITIVE_INFINITY) <= from) call += 1;
    while ((texts[text]?.to ?? Number.POSITIVE_INFINITY) <= from) text += 1;
    const inCalls = (calls[call]?.from ?? Number.POSITIVE_INFINITY) <= from;
    const inTexts = (texts[text]?.from ?? Number.POSITIVE_INFINITY) <= from;
    if (inCalls || inTexts) windows.push({ from, to, inCalls, inTexts });
  }
  return windows;
}

interface Alternative {
  /** All of them stand in a text that matches. */
  readonly all: readonly number[];
  /** Those of them that are worth reading, in this order, as a sample of so many segments told. */
  rarest: readonly number[];
  segments: number;
}

interface SourceSearch {
  readonly source: SearchSource;
  readonly waiting: readonly TimeSpan[];
  readonly alternatives: readonly Alternative[];
}

const State = z.object({
  xid: z.string(),
  id: z.string(),
  /** They count as not indexed until they are whole. */
  days: z.array(z.string()),
});

/** Windows with calls that are not indexed; null when that is everything. */
async function listWaiting(client: pg.ClientBase, { name, table }: SearchSource): Promise<readonly TimeSpan[] | null> {
  const { rows } = await client.query(
    `select xid::text, id, array(select d.day::text from llm_search_days d where d.source = s.source) as days
     from llm_search_state s where source = $1 and xid <= pg_snapshot_xmax(pg_current_snapshot())`,
    [name],
  );
  if (rows[0] === undefined) return null;
  const { xid, id, days } = State.parse(rows[0]);
  const { rows: waiting } = await client.query<{ readonly ms: number }>(
    `select (extract(epoch from requested_at) * 1000)::float8 as ms
     from ${table} where (ingest_xid, id) > ($1::xid8, $2::uuid) limit $3`,
    [xid, id, MAX_WAITING_CALLS],
  );
  if (waiting.length === MAX_WAITING_CALLS) return null;
  const spans = [
    ...waiting.map(({ ms }) => ({ from: ms, to: ms + 1 })),
    ...days.map((day) => ({ from: Date.parse(day), to: Date.parse(day) + DAY_MS })),
  ];
  return joinSpans(spans, { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }, WAITING_GAP_MS);
}

/** Spans that overlap, or are at most `gap` apart, become one. */
function joinSpans(spans: readonly TimeSpan[], within: TimeSpan, gap: number): readonly TimeSpan[] {
  const joined: TimeSpan[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const from = Math.max(span.from, within.from);
    const to = Math.min(span.to, within.to);
    if (from >= to) continue;
    const last = joined.at(-1);
    if (last !== undefined && from <= last.to + gap)
      joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, to) };
    else joined.push({ from, to });
  }
  return joined;
}

interface SegmentRow {
  readonly id: string;
  /** Of its latest call. */
  readonly lastMs: number;
  readonly saturated: readonly number[];
}

async function findInSegments(
  client: pg.ClientBase,
  source: SearchSource,
  alternative: Alternative,
  span: TimeSpan,
  most: number,
): Promise<{ readonly spans: readonly TimeSpan[]; readonly unreadTo: number | null }> {
  const { rows } = await client.query<SegmentRow>(
    `select id::text, (extract(epoch from last_at) * 1000)::float8 as "lastMs", saturated from ${source.segments}
     where first_at < $2 and first_at >= $1::timestamptz - interval '1 day' and last_at >= $1 order by first_at desc`,
    [timeText(span.from), timeText(span.to)],
  );
  const found: (readonly TimeSpan[])[] = [];
  // The few segments of a first slice may be of another kind than all the others.
  if (rows.length > alternative.segments * SAMPLE) await orderGrams(client, source, alternative, rows);
  let read = 0;
  let count = 0;
  let chunk = Math.min(MAX_CHUNK, Math.ceil(most / MAX_STRETCHES));
  while (read < rows.length && count <= most) {
    const spans = await findInChunk(client, source, alternative, rows.slice(read, read + chunk));
    found.push(spans);
    count += spans.length;
    read += chunk;
    chunk = Math.min(MAX_CHUNK, chunk * 2);
  }
  // A segment may reach further than those before it, by calls that came late.
  const unread = rows.slice(read).map(({ lastMs }) => lastMs);
  // Neither is an argument of a call: they are more than a call may have.
  return { spans: found.flat(), unreadTo: unread.length === 0 ? null : unread.reduce((a, b) => Math.max(a, b)) + 1 };
}

/** As the database reads it. */
export function timeText(ms: number): string {
  if (Number.isFinite(ms)) return new Date(ms).toISOString();
  return ms > 0 ? 'infinity' : '-infinity';
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
  alternative: Alternative,
  segments: readonly SegmentRow[],
): Promise<void> {
  const sample = spread(segments, SAMPLE);
  const counted: { readonly gram: number; readonly stretches: number }[] = [];
  for (const gram of alternative.all) {
    const found = await readParts(
      client,
      source,
      sample.map(({ id }) => id),
      gram,
    );
    counted.push({ gram, stretches: [...found.values()].reduce((sum, bits) => sum + countStretches(bits), 0) });
  }
  const most = sample.length * MAX_STRETCHES * MAX_SHARE;
  alternative.rarest = counted
    .sort((a, b) => a.stretches - b.stretches)
    .filter(({ stretches }, index) => index === 0 || stretches <= most)
    .map(({ gram }) => gram);
  alternative.segments = segments.length;
}

async function findInChunk(
  client: pg.ClientBase,
  source: SearchSource,
  { rarest }: Alternative,
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
