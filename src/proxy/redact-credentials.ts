/** Hides the request's own credentials in the log. Not in encoded answers below status 300 or request bodies. */
import { brotliDecompressSync, constants, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { isObject } from '../formats/usage/read-json.ts';
import { isIdentity } from '../formats/wire/content-encoding.ts';
import { HIDDEN } from '../formats/wire/secret-form.ts';
import { type Span, TextSearch } from '../formats/wire/text-search.ts';
import type { CallBody, CallEnd } from '../vocabulary/call-record.ts';
import type { JsonObject, JsonValue, ReportedUsage, TokenUsage } from '../vocabulary/token-usage.ts';
import type { CallEnding } from './call-log.ts';
import { listEncodings, listMasked } from './credential-encodings.ts';
import { createPartSearch } from './credential-parts.ts';
import { MIN_CREDENTIAL_CHARS } from './list-credentials.ts';
import type { RequestSecrets } from './request-secrets.ts';

const STAR = 0x2a;
/** Compressed errors that decode to more are not logged. */
const MAX_DECODED_BYTES = 4 * 1024 * 1024;
const FIRST_UNUSUAL_STATUS = 300;
const ERROR_NAME = '"error"';
const NO_ERROR = /^\s*:\s*null/;

/** Returns `ending` itself when nothing is found. `signed`: the flat headers that the gateway signed. */
export function redactCredentials(secrets: RequestSecrets, signed: readonly string[], ending: CallEnding): CallEnding {
  const { end, bodies } = ending;
  const isUnusual =
    (end.status ?? 0) >= FIRST_UNUSUAL_STATUS ||
    end.errorMessage !== null ||
    end.outcome !== 'ok' ||
    (end.usage === null && bodies.some(hasError));
  if (!isUnusual && !mayStandInEnding(ending, secrets.listSearches(signed))) return ending;
  const sought = seek(secrets, signed, isUnusual);
  if (sought.searches.length === 0) return ending;
  return {
    end: hideInEnd(end, sought),
    bodies: bodies.flatMap((body) => (body.direction === 'request' ? [body] : hideInAnswer(body, sought, isUnusual))),
  };
}

/** Answers without usage were not checked for an error yet. */
function hasError({ direction, bytes }: CallBody): boolean {
  const at = direction === 'response' ? bytes.indexOf(ERROR_NAME) : -1;
  return at !== -1 && !NO_ERROR.test(bytes.toString('latin1', at + ERROR_NAME.length, at + ERROR_NAME.length + 8));
}

/** For checkpoints, which become the record when the process dies. */
export function redactReading(
  secrets: RequestSecrets,
  signed: readonly string[],
  reported: ReportedUsage,
): ReportedUsage {
  const { model, serviceTier, speed, inferenceGeo, usage, error } = reported;
  const sought = seek(secrets, signed, error !== null);
  if (sought.searches.length === 0) return reported;
  return {
    ...reported,
    model: hideInText(model, sought),
    serviceTier: hideInText(serviceTier, sought),
    speed: hideInText(speed, sought),
    inferenceGeo: hideInText(inferenceGeo, sought),
    usage: hideInUsage(usage, sought),
    error: error && { type: hideInText(error.type, sought), message: hideInText(error.message, sought) },
  };
}

/** Errors are also searched for other spellings and masked forms. */
interface Sought {
  readonly searches: readonly TextSearch[];
  readonly masked: readonly string[];
  readonly findParts: (text: string) => readonly Span[];
}

const NONE: readonly string[] = Object.freeze([]);
const NOWHERE: readonly Span[] = Object.freeze([]);

function seek(secrets: RequestSecrets, signed: readonly string[], isUnusual: boolean): Sought {
  if (!isUnusual) return { searches: secrets.listSearches(signed), masked: NONE, findParts: () => NOWHERE };
  const credentials = secrets.listCredentials(signed);
  const spellings = new Set([...credentials, ...credentials.flatMap(listEncodings)]);
  return {
    searches: Array.from(spellings, (spelling) => new TextSearch(spelling)),
    masked: credentials,
    findParts: createPartSearch(credentials),
  };
}

/** Text written by the provider, or taken from the request's body. */
const TEXTS = [
  'errorMessage',
  'errorType',
  'providerRequestId',
  'modelRequested',
  'model',
  'serviceTier',
  'speed',
  'inferenceGeo',
] as const satisfies readonly (keyof CallEnd)[];

/** All that most calls cost. Each text by itself: joining them takes ten times as long as searching them. */
function mayStandInEnding({ end, bodies }: CallEnding, searches: readonly TextSearch[]): boolean {
  if (searches.length === 0) return false;
  const texts: string[] = [];
  for (const name of TEXTS) {
    const text = end[name];
    if (text !== null) texts.push(text);
  }
  if (end.usage !== null) listTexts(end.usage.native, texts);
  for (const search of searches) {
    for (const text of texts) if (search.mayStandIn(text)) return true;
    for (const [, value] of end.responseHeaders) if (search.mayStandIn(value)) return true;
    for (const body of bodies) if (body.direction === 'response' && mayStandInBody(body, search)) return true;
  }
  return false;
}

/** Encoded ones are not searched, and in one with a gap a credential may be cut anywhere. */
function mayStandInBody({ contentEncoding, headBytes, bytes }: CallBody, search: TextSearch): boolean {
  return isIdentity(contentEncoding) && (headBytes < bytes.length || search.mayStandIn(bytes));
}

function hideInEnd(end: CallEnd, sought: Sought): CallEnd {
  const isKnown = ([, value]: readonly [string, string]) => hideInText(value, sought) !== value;
  const changed = TEXTS.filter((name) => hideInText(end[name], sought) !== end[name]);
  const usage = hideInUsage(end.usage, sought);
  if (changed.length === 0 && usage === end.usage && !end.responseHeaders.some(isKnown)) return end;
  const responseHeaders = end.responseHeaders.map(([name, value]) => [name, hideInText(value, sought)] as const);
  return {
    ...end,
    ...Object.fromEntries(changed.map((name) => [name, hideInText(end[name], sought)])),
    usage,
    responseHeaders,
  };
}

/** Adds the texts of the provider's usage object, and the names that a credential would fit in. */
function listTexts(value: JsonValue, texts: string[]): void {
  if (typeof value === 'string') texts.push(value);
  else if (Array.isArray(value)) for (const item of value) listTexts(item, texts);
  else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      if (name.length >= MIN_CREDENTIAL_CHARS) texts.push(name);
      listTexts(value[name] ?? null, texts);
    }
  }
}

/** Returns `usage` itself when nothing is found. */
function hideInUsage(usage: TokenUsage | null, sought: Sought): TokenUsage | null {
  if (usage === null) return null;
  const texts: string[] = [];
  listTexts(usage.native, texts);
  if (texts.every((text) => hideInText(text, sought) === text)) return usage;
  return { ...usage, native: hideInMembers(usage.native, sought) };
}

function hideInMembers(members: JsonObject, sought: Sought): JsonObject {
  const hidden = Object.entries(members).map(([name, value]) => [hideInText(name, sought), hideInJson(value, sought)]);
  return Object.fromEntries(hidden);
}

function hideInJson(value: JsonValue, sought: Sought): JsonValue {
  if (typeof value === 'string') return hideInText(value, sought);
  if (isObject(value)) return hideInMembers(value, sought);
  return Array.isArray(value) ? value.map((item) => hideInJson(item, sought)) : value;
}

function hideInText(text: string, sought: Sought): string;
function hideInText(text: string | null, sought: Sought): string | null;
function hideInText(text: string | null, sought: Sought): string | null {
  if (text === null || !mayStandIn(text, sought)) return text;
  const spans = listSpans(Buffer.from(text, 'latin1'), text, sought);
  if (spans.length === 0) return text;
  let shown = '';
  let done = 0;
  for (const [from, to] of spans) {
    shown += text.slice(done, from) + HIDDEN;
    done = to;
  }
  return shown + text.slice(done);
}

function mayStandIn(text: Buffer | string, { searches, masked }: Sought): boolean {
  return masked.length > 0 || searches.some((search) => search.mayStandIn(text));
}

/** Spans of credentials, ordered and merged, with one that is cut off by the end. */
function listSpans(bytes: Buffer, text: string, { searches, masked, findParts }: Sought): readonly Span[] {
  const spans = searches.flatMap((search) => search.find(bytes));
  if (masked.length > 0) spans.push(...listMasked(text, masked), ...findParts(text));
  const begun = Math.max(0, ...searches.map((search) => search.countBegun(bytes)));
  if (begun >= MIN_CREDENTIAL_CHARS) spans.push([bytes.length - begun, bytes.length]);
  if (spans.length < 2) return spans;
  const joined: Span[] = [];
  for (const [from, to] of spans.sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last === undefined || from >= last[1]) joined.push([from, to]);
    else joined[joined.length - 1] = [last[0], Math.max(last[1], to)];
  }
  return joined;
}

function hideInAnswer(answer: CallBody, sought: Sought, isUnusual: boolean): CallBody[] {
  const body: CallBody = { ...answer, contentType: hideInText(answer.contentType, sought) };
  if (isIdentity(body.contentEncoding)) return [{ ...body, bytes: hideInBytes(body.bytes, body.headBytes, sought) }];
  if (!isUnusual) return [body];
  const plain = decode(body.bytes, body.contentEncoding ?? '');
  // A body that cannot be searched is not kept.
  if (plain === null) return [];
  const bytes = hideInBytes(plain, plain.length, sought);
  return bytes === plain
    ? [body]
    : [{ ...body, contentEncoding: null, bytes, headBytes: bytes.length, totalBytes: bytes.length }];
}

/** Keeps the length, so that head and tail stay in place; copies, since the client may still be sent these bytes. */
function hideInBytes(bytes: Buffer, headBytes: number, sought: Sought): Buffer {
  const isWhole = headBytes >= bytes.length;
  if (isWhole && !mayStandIn(bytes, sought)) return bytes;
  const spans = [...listSpans(bytes, bytes.toString('latin1'), sought), ...listCut(bytes, headBytes, sought.searches)];
  if (spans.length === 0) return bytes;
  const shown = Buffer.from(bytes);
  for (const [from, to] of spans) shown.fill(STAR, from, to);
  return shown;
}

/** Credentials cut by the gap between head and tail. */
function listCut(bytes: Buffer, headBytes: number, searches: readonly TextSearch[]): readonly Span[] {
  if (headBytes >= bytes.length) return [];
  const head = bytes.subarray(0, headBytes);
  const tail = bytes.subarray(headBytes);
  const begun = Math.max(0, ...searches.map((search) => search.countBegun(head)));
  const ended = Math.max(0, ...searches.map((search) => search.countEnded(tail)));
  const spans: Span[] = [];
  if (begun >= MIN_CREDENTIAL_CHARS) spans.push([headBytes - begun, headBytes]);
  if (ended >= MIN_CREDENTIAL_CHARS) spans.push([headBytes, headBytes + ended]);
  return spans;
}

function decode(bytes: Buffer, encoding: string): Buffer | null {
  const limit = { maxOutputLength: MAX_DECODED_BYTES };
  const zlib = { ...limit, finishFlush: constants.Z_SYNC_FLUSH };
  try {
    switch (encoding.trim().toLowerCase()) {
      case 'gzip':
      case 'x-gzip':
        return gunzipSync(bytes, zlib);
      case 'deflate':
        return inflateSync(bytes, zlib);
      case 'br':
        return brotliDecompressSync(bytes, { ...limit, finishFlush: constants.BROTLI_OPERATION_FLUSH });
      case 'zstd':
        return zstdDecompressSync(bytes, { ...limit, finishFlush: constants.ZSTD_e_flush });
      default:
        return null;
    }
  } catch {
    return null;
  }
}
