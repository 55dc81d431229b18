/**
 * Providers' errors sometimes repeat the credential that they refuse, and AWS repeats every signed header. What the
 * client gets is untouched; of what the log keeps, the request's own credentials are taken out, of errors in other
 * spellings and masked, too. Known limits: an encoded answer with a status below 300 is not looked through, and neither is
 * what the client itself wrote into its body.
 */
import { brotliDecompressSync, constants, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { CallBody, CallEnd } from '../call-record.ts';
import type { UsageReading } from '../token-usage.ts';
import { isIdentity } from '../wire/content-encoding.ts';
import { HIDDEN } from '../wire/secret-form.ts';
import { type Span, TextSearch } from '../wire/text-search.ts';
import type { AcceptedRequest } from './accept.ts';
import { listEncodings, listMasked } from './credential-encodings.ts';
import { listParts } from './credential-parts.ts';
import { listCredentials, MIN_CREDENTIAL_CHARS } from './list-credentials.ts';

const STAR = 0x2a;
/** Of a compressed error; a longer one is not kept. */
const MAX_DECODED_BYTES = 4 * 1024 * 1024;
const FIRST_UNUSUAL_STATUS = 300;
const ERROR_NAME = '"error"';
const NO_ERROR = /^\s*:\s*null/;

export interface KeptEnding {
  readonly end: CallEnd;
  readonly bodies: CallBody[];
}

/** Flat headers, none: the call is not signed by the gateway. */
export const NOT_SIGNED: readonly string[] = [];

/** The same objects when nothing is found, which is nearly always. `signed`: the headers sent, where the gateway signs. */
export function hideEchoes(
  request: AcceptedRequest,
  signed: readonly string[],
  end: CallEnd,
  bodies: CallBody[],
): KeptEnding {
  const isUnusual =
    (end.status ?? 0) >= FIRST_UNUSUAL_STATUS ||
    end.errorMessage !== null ||
    end.outcome !== 'ok' ||
    (end.usage === null && bodies.some(hasError));
  const sought = seek(request, signed, isUnusual);
  if (sought.searches.length === 0) return { end, bodies };
  return {
    end: hideInEnd(end, sought),
    bodies: bodies.flatMap((body) => (body.direction === 'request' ? [body] : hideInAnswer(body, sought, isUnusual))),
  };
}

/** Where usage was read, an error was looked for, too; of other answers nobody else has looked for one. */
function hasError({ direction, bytes }: CallBody): boolean {
  const at = direction === 'response' ? bytes.indexOf(ERROR_NAME) : -1;
  return at !== -1 && !NO_ERROR.test(bytes.toString('latin1', at + ERROR_NAME.length, at + ERROR_NAME.length + 8));
}

/** For checkpoints, from which the record is made when the process dies. */
export function hideInReading(
  request: AcceptedRequest,
  signed: readonly string[],
  reading: UsageReading,
): UsageReading {
  if (reading.error === null) return reading;
  const sought = seek(request, signed, true);
  const { type, message } = reading.error;
  return { ...reading, error: { type: hideInText(type, sought), message: hideInText(message, sought) } };
}

/** What to look for: in errors also in other spellings, for which an ordinary answer has no reason. */
interface Sought {
  readonly searches: readonly TextSearch[];
  readonly masked: readonly string[];
}

const NONE: readonly string[] = Object.freeze([]);

function searchFor(spelling: string): TextSearch {
  return new TextSearch(spelling);
}

function seek(request: AcceptedRequest, signed: readonly string[], isUnusual: boolean): Sought {
  const credentials = listCredentials(request, signed);
  if (!isUnusual) return { searches: credentials.map(searchFor), masked: NONE };
  const spellings = new Set([...credentials, ...credentials.flatMap(listEncodings)]);
  return { searches: [...spellings].map(searchFor), masked: credentials };
}

/** What the answer says, and what stands in a request's body under a name of its own. */
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

/** All that is looked through: in one text a search is made once. */
function joinTexts(end: CallEnd): string {
  let all = '';
  for (const name of TEXTS) if (end[name] !== null) all += `${end[name]}\n`;
  for (const [, value] of end.responseHeaders) all += `${value}\n`;
  return all;
}

function hideInEnd(end: CallEnd, sought: Sought): CallEnd {
  if (!mayStandIn(joinTexts(end), sought)) return end;
  const isKnown = ([, value]: readonly [string, string]) => hideInText(value, sought) !== value;
  const changed = TEXTS.filter((name) => hideInText(end[name], sought) !== end[name]);
  if (changed.length === 0 && !end.responseHeaders.some(isKnown)) return end;
  const responseHeaders = end.responseHeaders.map(([name, value]) => [name, hideInText(value, sought)] as const);
  return {
    ...end,
    ...Object.fromEntries(changed.map((name) => [name, hideInText(end[name], sought)])),
    responseHeaders,
  };
}

function hideInText(text: string, sought: Sought): string;
function hideInText(text: string | null, sought: Sought): string | null;
function hideInText(text: string | null, sought: Sought): string | null {
  if (text === null || !mayStandIn(text, sought)) return text;
  // A byte a character, so places are the same.
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

/**
 * Where credentials stand, in order, none within another. What is kept is cut at a limit: what a credential began there
 * is one, too.
 */
function listSpans(bytes: Buffer, text: string, { searches, masked }: Sought): readonly Span[] {
  const spans = searches.flatMap((search) => search.find(bytes));
  if (masked.length > 0) spans.push(...listMasked(text, masked), ...listParts(text, masked));
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

function hideInAnswer(body: CallBody, sought: Sought, isUnusual: boolean): CallBody[] {
  if (isIdentity(body.contentEncoding)) return [{ ...body, bytes: hideInBytes(body.bytes, body.headBytes, sought) }];
  if (!isUnusual) return [body];
  const plain = decode(body.bytes, body.contentEncoding ?? '');
  // What cannot be looked through is not kept.
  if (plain === null) return [];
  const bytes = hideInBytes(plain, plain.length, sought);
  return bytes === plain
    ? [body]
    : [{ ...body, contentEncoding: null, bytes, headBytes: bytes.length, totalBytes: bytes.length }];
}

/** As long as before, so that head and tail stay where they are; a copy, since the client may still be sent these bytes. */
function hideInBytes(bytes: Buffer, headBytes: number, sought: Sought): Buffer {
  const isWhole = headBytes >= bytes.length;
  if (isWhole && !mayStandIn(bytes, sought)) return bytes;
  const spans = [...listSpans(bytes, bytes.toString('latin1'), sought), ...listCut(bytes, headBytes, sought.searches)];
  if (spans.length === 0) return bytes;
  const shown = Buffer.from(bytes);
  for (const [from, to] of spans) shown.fill(STAR, from, to);
  return shown;
}

/** Where bytes are left out between head and tail: a credential that begins before them, and one that ends behind. */
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
