/**
 * Providers' errors sometimes repeat the credential that they refuse, and AWS repeats every signed header. What the
 * client gets is untouched; of what the log keeps, the request's own credentials are taken out. Known limits: an encoded
 * answer with a status below 300 is not looked through, and neither is what the client itself wrote into its body.
 */
import { brotliDecompressSync, constants, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { CallBody, CallEnd } from '../call-record.ts';
import type { UsageReading } from '../token-usage.ts';
import { isIdentity } from '../wire/content-encoding.ts';
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
  const credentials = listCredentials(request, signed);
  if (credentials.length === 0) return { end, bodies };
  const isUnusual = (end.status ?? 0) >= FIRST_UNUSUAL_STATUS || end.errorMessage !== null;
  return {
    end: hideInEnd(end, credentials),
    bodies: bodies.flatMap((body) =>
      body.direction === 'request' ? [body] : hideInAnswer(body, credentials, isUnusual),
    ),
  };
}

/** For checkpoints, from which the record is made when the process dies. */
export function hideInReading(
  request: AcceptedRequest,
  signed: readonly string[],
  reading: UsageReading,
): UsageReading {
  if (reading.error === null) return reading;
  const credentials = listCredentials(request, signed);
  const { type, message } = reading.error;
  return { ...reading, error: { type: hideInText(type, credentials), message: hideInText(message, credentials) } };
}

function hideInEnd(end: CallEnd, credentials: readonly string[]): CallEnd {
  const errorMessage = hideInText(end.errorMessage, credentials);
  const errorType = hideInText(end.errorType, credentials);
  const providerRequestId = hideInText(end.providerRequestId, credentials);
  const isKnown = ([, value]: readonly [string, string]) => hideInText(value, credentials) !== value;
  const hasEcho = providerRequestId !== end.providerRequestId || end.responseHeaders.some(isKnown);
  if (errorMessage === end.errorMessage && errorType === end.errorType && !hasEcho) return end;
  const responseHeaders = end.responseHeaders.map(
    ([name, value]) => [name, hideInText(value, credentials) ?? ''] as const,
  );
  return { ...end, errorMessage, errorType, providerRequestId, responseHeaders };
}

function hideInText(text: string | null, credentials: readonly string[]): string | null {
  if (text === null) return null;
  let shown = text;
  for (const credential of credentials) shown = shown.replaceAll(credential, HIDDEN);
  // A message is cut at its limit: what a credential began there is one, too.
  const kept = cutBegun(shown, credentials);
  return kept === shown.length ? shown : shown.slice(0, kept) + HIDDEN;
}

/** Where a credential begins that the end of the text cuts off; the text's length when none does. */
function cutBegun(text: string, credentials: readonly string[]): number {
  const last = text.at(-1);
  for (const credential of credentials)
    for (let length = Math.min(credential.length - 1, text.length); length >= MIN_CREDENTIAL_CHARS; length -= 1)
      // The character first: this is done for every call.
      if (credential[length - 1] === last && text.endsWith(credential.slice(0, length))) return text.length - length;
  return text.length;
}

function hideInAnswer(body: CallBody, credentials: readonly string[], isUnusual: boolean): CallBody[] {
  if (isIdentity(body.contentEncoding)) return [{ ...body, bytes: hideInBytes(body.bytes, credentials) }];
  if (!isUnusual) return [body];
  const plain = decode(body.bytes, body.contentEncoding ?? '');
  // What cannot be looked through is not kept.
  if (plain === null) return [];
  const bytes = hideInBytes(plain, credentials);
  return bytes === plain
    ? [body]
    : [{ ...body, contentEncoding: null, bytes, headBytes: bytes.length, totalBytes: bytes.length }];
}

/** As long as before, so that head and tail stay where they are; a copy, since the client may still be sent these bytes. */
function hideInBytes(bytes: Buffer, credentials: readonly string[]): Buffer {
  let shown = bytes;
  const hide = (from: number, to: number) => {
    if (shown === bytes) shown = Buffer.from(bytes);
    shown.fill(STAR, from, to);
  };
  let longest = 0;
  for (const credential of credentials) {
    longest = Math.max(longest, credential.length);
    for (let at = bytes.indexOf(credential, 0, 'latin1'); at !== -1; at = bytes.indexOf(credential, at + 1, 'latin1'))
      hide(at, at + credential.length);
  }
  const ending = shown.toString('latin1', Math.max(0, shown.length - longest));
  const begun = cutBegun(ending, credentials);
  if (begun < ending.length) hide(shown.length - ending.length + begun, shown.length);
  return shown;
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
