/** Where in calls of a page a search found its text, with what stands around it. */
import type pg from 'pg';
import { z } from 'zod';
import { foldText } from '../search/fold-text.ts';
import { SEARCHED_COLUMNS } from '../search/search-sources.ts';
import type { SqlRow } from './run-sql.ts';
import { askWithin } from './walk-window.ts';

export interface SearchMatch {
  /** A column of the log, `metadata.Key`, `prompt` or `answer`. */
  readonly in: string;
  /** In one line, with "…" where it is cut. */
  readonly text: string;
  /** Where in `text` the match begins, in UTF-16 units. */
  readonly start: number;
  readonly length: number;
}

/** Characters on either side. */
const AROUND = 60;
const MAX_MATCHES = 5;
/** Texts of so many calls are looked at together, and no more of them when the time is spent. */
const CHUNK = 25;
const TEXT_LIMIT_MS = 200;

const CallTexts = z.object({
  id: z.string(),
  provider_request_id: z.string().nullable(),
  raw_metadata: z.record(z.string(), z.string()),
  texts: z.array(z.string().nullable()),
});

const READ_CALLS = `
  select r.id, r.provider_request_id, r.raw_metadata,
    array[${SEARCHED_COLUMNS.map((name) => `r.${name}`).join(', ')}] as texts
  from unnest($1::uuid[], $2::timestamptz[]) as c (id, requested_at)
    join llm_requests r on r.id = c.id and r.requested_at = c.requested_at
  where r.account_id = $3 and r.requested_at between $4 and $5`;

/** The excerpt begins `AROUND` characters before the match: a text is never sent whole. */
const READ_TEXTS = `
  select t.id, side.name as "in", side.place::int4 > ${AROUND + 1} as "isCut",
    substr(side.value, greatest(1, side.place - ${AROUND}), $7 + ${2 * AROUND + 1}) as excerpt
  from unnest($1::uuid[], $2::timestamptz[]) as c (id, requested_at)
    join llm_texts t on t.id = c.id and t.requested_at = c.requested_at
    cross join lateral (
      select name, value, strpos(search_fold(value), search_fold($6)) as place
      from (values ('prompt', t.prompt), ('answer', t.answer)) v (name, value)
    ) side
  where t.account_id = $3 and t.requested_at between $4 and $5 and side.place > 0`;

/** Takes rows with `id` and `requested_at`. The client is in a transaction. Matches in long texts may be left out. */
export async function readMatches(
  client: pg.ClientBase,
  accountId: number,
  search: string,
  inTexts: boolean,
  rows: readonly SqlRow[],
): Promise<ReadonlyMap<string, readonly SearchMatch[]>> {
  const found = new Map<string, SearchMatch[]>();
  const calls = rows.flatMap(({ id, requested_at: at }) => (at instanceof Date ? [{ id: String(id), at }] : []));
  if (calls.length === 0) return found;
  const { rows: named } = await client.query(READ_CALLS, [...keysOf(calls), ...boundsOf(accountId, calls)]);
  for (const row of named) {
    const call = CallTexts.parse(row);
    found.set(call.id, matchesInCall(call, search));
  }
  const startedMs = performance.now();
  for (let begin = 0; inTexts && begin < calls.length; begin += CHUNK) {
    const leftMs = Math.ceil(TEXT_LIMIT_MS - (performance.now() - startedMs));
    if (leftMs <= 0) break;
    const chunk = calls.slice(begin, begin + CHUNK);
    const values = [...keysOf(chunk), ...boundsOf(accountId, chunk), search, [...search].length];
    const texts = await askWithin(client, leftMs, () => client.query<FoundText>(READ_TEXTS, values));
    if (texts === 'too_long') break;
    for (const { id, in: side, isCut, excerpt } of texts.rows) {
      const match = matchIn(side, excerpt, search, isCut);
      if (match !== null) found.get(id)?.push(match);
    }
  }
  for (const [id, matches] of found) found.set(id, matches.slice(0, MAX_MATCHES));
  return found;
}

interface FoundText {
  readonly id: string;
  readonly in: 'prompt' | 'answer';
  readonly isCut: boolean;
  readonly excerpt: string;
}

function keysOf(calls: readonly { readonly id: string; readonly at: Date }[]) {
  return [calls.map(({ id }) => id), calls.map(({ at }) => at)] as const;
}

/** They leave out other days. */
function boundsOf(accountId: number, calls: readonly { readonly at: Date }[]) {
  const ordered = calls.map(({ at }) => at).sort((a, b) => a.getTime() - b.getTime());
  return [accountId, ordered[0], ordered.at(-1)] as const;
}

function matchesInCall(call: z.infer<typeof CallTexts>, search: string): SearchMatch[] {
  const texts: (readonly [string, string | null])[] = [
    ...SEARCHED_COLUMNS.map((name, index) => [name, call.texts[index] ?? null] as const),
    ...Object.entries(call.raw_metadata).map(([key, value]) => [`metadata.${key}`, value] as const),
  ];
  const matches = texts.flatMap(([name, text]) => (text === null ? [] : (matchIn(name, text, search, false) ?? [])));
  const isWhole = (text: string | null): text is string => text !== null && foldText(text) === foldText(search);
  for (const [name, id] of [
    ['id', call.id],
    ['provider_request_id', call.provider_request_id],
  ] as const)
    if (isWhole(id)) matches.push({ in: name, text: id, start: 0, length: id.length });
  return matches;
}

/** `isCut`: the text is the end of a longer one. Null where the text is not in there. */
function matchIn(name: string, text: string, search: string, isCut: boolean): SearchMatch | null {
  const place = foldText(text).indexOf(foldText(search));
  if (place === -1) return null;
  const before = [...text.slice(0, place)];
  const after = [...text.slice(place + search.length)];
  const head = oneLine(before.slice(-AROUND).join(''));
  const start = isCut || before.length > AROUND ? `…${head}` : head;
  const match = oneLine(text.slice(place, place + search.length));
  const end = oneLine(after.slice(0, AROUND).join('')) + (after.length > AROUND ? '…' : '');
  return { in: name, text: start + match + end, start: start.length, length: match.length };
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ');
}
