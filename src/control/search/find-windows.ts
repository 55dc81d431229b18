/**
 * Where in the log a text may stand, by the index: windows of time in which every match is. What is not indexed yet is
 * among them. The caller compares the calls in them exactly.
 */
import type pg from 'pg';
import { z } from 'zod';
import { isCallId, requestedAtOf } from '../../vocabulary/uuid.ts';
import { DAY_MS } from '../store/partitions.ts';
import { readNeedle } from './grams.ts';
import { listSegments, type Needle, openSegments, type SegmentReading } from './read-segments.ts';
import { CALLS, SEARCH_SOURCES, type SearchSource, TEXTS } from './search-sources.ts';
import type { TimeSpan } from './time-span.ts';

/** What a match may stand in there. */
export interface SearchWindow extends TimeSpan {
  readonly inCalls: boolean;
  readonly inTexts: boolean;
}

export interface Search {
  readonly text: string;
  /** In order of time and apart from each other, within the span. Ends may be infinite. */
  readonly windowsIn: (span: TimeSpan) => Promise<readonly SearchWindow[]>;
  /** The latest ones, where there are more than are worth asking all at once, or the index takes longer to read than `limitMs`. */
  readonly fewWindowsIn: (span: TimeSpan, limitMs: number) => Promise<FewWindows>;
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

/** The client is in a transaction of one snapshot, with which the search ends. */
export async function openSearch(
  client: pg.ClientBase,
  text: string,
  sources: readonly SearchSource[] = SEARCH_SOURCES,
  fewWindows: number = FEW_WINDOWS,
): Promise<Search> {
  const { part, whole } = readNeedle(text);
  // What is not among the sources is not looked at, indexed or not.
  const all = (span: TimeSpan) => [{ ...span, inCalls: sources.includes(CALLS), inTexts: sources.includes(TEXTS) }];
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
      known: source.name === 'calls' ? [...waiting, ...spanOfId(text)] : waiting,
      needles: [
        { grams: part, rarest: part, segments: 0 },
        { grams: [whole], rarest: [whole], segments: Number.POSITIVE_INFINITY },
      ],
    });
  }
  async function find(span: TimeSpan, most: number, limitMs: number): Promise<FewWindows> {
    const startedMs = performance.now();
    const readings: Reading[] = [];
    for (const { source, needles } of open) {
      const listed = await listSegments(client, source, span);
      for (const needle of needles)
        readings.push({ source: source.name, segments: await openSegments(client, source, listed, needle, most) });
    }
    let since: number | null = null;
    for (;;) {
      const behind = readings.reduce((a, b) => ((b.segments.unreadTo ?? 0) > (a.segments.unreadTo ?? 0) ? b : a));
      const { unreadTo, spans, hasBegun } = behind.segments;
      // A segment that was not read may reach beyond the span.
      since = unreadTo === null ? null : Math.min(span.to, Math.max(span.from, unreadTo));
      const isEnough = spans.length > most || (hasBegun && performance.now() - startedMs >= limitMs);
      if (unreadTo === null || isEnough) break;
      await behind.segments.readNext();
    }
    const read = { from: since ?? span.from, to: span.to };
    const spansOf = (name: SearchSource['name']) => [
      ...open.filter(({ source }) => source.name === name).flatMap(({ known }) => known),
      ...readings.filter(({ source }) => source === name).flatMap(({ segments }) => segments.spans),
    ];
    const windows = overlay(joinSpans(spansOf('calls'), read, 0), joinSpans(spansOf('texts'), read, 0));
    return { windows, since };
  }
  return {
    text,
    windowsIn: async (span) => (await find(span, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)).windows,
    fewWindowsIn: (span, limitMs) => find(span, fewWindows, limitMs),
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

/** Where a call is that is looked for by its id: the index has nothing of those, since they say when it was. */
function spanOfId(text: string): readonly TimeSpan[] {
  if (!isCallId(text)) return [];
  const from = requestedAtOf(text).getTime();
  return [{ from, to: from + 1 }];
}

interface SourceSearch {
  readonly source: SearchSource;
  /** Read whatever the index says. */
  readonly known: readonly TimeSpan[];
  readonly needles: readonly Needle[];
}

interface Reading {
  readonly source: SearchSource['name'];
  readonly segments: SegmentReading;
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
