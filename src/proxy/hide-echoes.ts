/**
 * Providers' errors sometimes repeat the credential that they refuse, and AWS repeats every signed header. What the
 * client gets is untouched; of what the log keeps, the request's own credentials are taken out. Known limits: an encoded
 * answer with a status below 300 is not looked through, and neither is what the client itself wrote into its body.
 */
import { brotliDecompressSync, constants, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { CallBody, CallEnd } from '../call-record.ts';
import type { UsageReading } from '../token-usage.ts';
import { isIdentity } from '../wire/content-encoding.ts';
import { type Span, TextSearch } from '../wire/text-search.ts';
import type { AcceptedRequest } from './accept.ts';
import { listCredentials, MIN_CREDENTIAL_CHARS } from './list-credentials.ts';

const HIDDEN = '***';
const STAR = 0x2a;
/** Of a compressed error; a longer one is not kept. */
const MAX_DECODED_BYTES = 4 * 1024 * 1024;
const FIRST_UNUSUAL_STATUS = 300;

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
  const searches = searchesFor(request, signed);
  if (searches.length === 0) return { end, bodies };
  const isUnusual = (end.status ?? 0) >= FIRST_UNUSUAL_STATUS || end.errorMessage !== null;
  return {
    end: hideInEnd(end, searches),
    bodies: bodies.flatMap((body) => (body.direction === 'request' ? [body] : hideInAnswer(body, searches, isUnusual))),
  };
}

/** For checkpoints, from which the record is made when the process dies. */
export function hideInReading(
  request: AcceptedRequest,
  signed: readonly string[],
  reading: UsageReading,
): UsageReading {
  if (reading.error === null) return reading;
  const searches = searchesFor(request, signed);
  const { type, message } = reading.error;
  return { ...reading, error: { type: hideInText(type, searches), message: hideInText(message, searches) } };
}

function searchesFor(request: AcceptedRequest, signed: readonly string[]): readonly TextSearch[] {
  return listCredentials(request, signed).map((credential) => new TextSearch(credential));
}

function hideInEnd(end: CallEnd, searches: readonly TextSearch[]): CallEnd {
  const errorMessage = hideInText(end.errorMessage, searches);
  const errorType = hideInText(end.errorType, searches);
  const providerRequestId = hideInText(end.providerRequestId, searches);
  const isKnown = ([, value]: readonly [string, string]) => hideInText(value, searches) !== value;
  const hasEcho = providerRequestId !== end.providerRequestId || end.responseHeaders.some(isKnown);
  if (errorMessage === end.errorMessage && errorType === end.errorType && !hasEcho) return end;
  const responseHeaders = end.responseHeaders.map(([name, value]) => [name, hideInText(value, searches)] as const);
  return { ...end, errorMessage, errorType, providerRequestId, responseHeaders };
}

function hideInText(text: string, searches: readonly TextSearch[]): string;
function hideInText(text: string | null, searches: readonly TextSearch[]): string | null;
function hideInText(text: string | null, searches: readonly TextSearch[]): string | null {
  if (text === null || !searches.some((search) => search.mayStandIn(text))) return text;
  // A byte a character, so places are the same.
  const spans = listSpans(Buffer.from(text, 'latin1'), searches);
  if (spans.length === 0) return text;
  let shown = '';
  let done = 0;
  for (const [from, to] of spans) {
    shown += text.slice(done, from) + HIDDEN;
    done = to;
  }
  return shown + text.slice(done);
}

/**
 * Where credentials stand, in order, none within another. What is kept is cut at a limit: what a credential began there
 * is one, too.
 */
function listSpans(bytes: Buffer, searches: readonly TextSearch[]): readonly Span[] {
  const spans = searches.flatMap((search) => search.find(bytes));
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

function hideInAnswer(body: CallBody, searches: readonly TextSearch[], isUnusual: boolean): CallBody[] {
  if (isIdentity(body.contentEncoding)) return [{ ...body, bytes: hideInBytes(body.bytes, body.headBytes, searches) }];
  if (!isUnusual) return [body];
  const plain = decode(body.bytes, body.contentEncoding ?? '');
  // What cannot be looked through is not kept.
  if (plain === null) return [];
  const bytes = hideInBytes(plain, plain.length, searches);
  return bytes === plain
    ? [body]
    : [{ ...body, contentEncoding: null, bytes, headBytes: bytes.length, totalBytes: bytes.length }];
}

/** As long as before, so that head and tail stay where they are; a copy, since the client may still be sent these bytes. */
function hideInBytes(bytes: Buffer, headBytes: number, searches: readonly TextSearch[]): Buffer {
  const isWhole = headBytes >= bytes.length;
  if (isWhole && !searches.some((search) => search.mayStandIn(bytes))) return bytes;
  const spans = [...listSpans(bytes, searches), ...listCut(bytes, headBytes, searches)];
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
