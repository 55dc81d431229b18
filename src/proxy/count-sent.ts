/**
 * Counts what a request sent or asked for, for the endpoints that are billed by it and whose answers do not report it.
 * Only what is plainly there is counted; the answer's own report, where there is one, is what counts.
 */
import type { Endpoint } from '../providers/provider.ts';
import { type AskedLifetime, readAskedLifetime } from '../shapes/asked-lifetime.ts';
import { parseJson } from '../shapes/json-reading.ts';
import { createSentPictures } from '../shapes/sent-pictures.ts';
import { createSentQueries } from '../shapes/sent-queries.ts';
import type { TokenUsage } from '../token-usage.ts';
import { isIdentity } from '../wire/content-encoding.ts';
import { scanTopLevel, type TopLevelScan } from '../wire/json-top-level.ts';
import { readBoundary, readMultipartFields } from '../wire/multipart-fields.ts';
import type { AcceptedRequest } from './accept.ts';
import type { BodyCopy } from './body-copy.ts';
import type { ReceivedBody } from './receive-body.ts';

/** Pictures that come as a stream are of models that are billed by the token: a stream that was cut says nothing. */
const STREAM = 'stream';
const PICTURE_NAMES = ['n', 'size', 'quality', STREAM] as const;

/**
 * Null when the endpoint is not billed so, or it cannot be seen: a body that is encoded, too large, or not of the form.
 */
export function countSent(
  endpoint: Endpoint,
  request: AcceptedRequest,
  received: ReceivedBody,
  copy: BodyCopy,
): TokenUsage | null {
  if (endpoint.countsRequest === undefined) return null;
  const bytes = readWhole(request, received, copy);
  if (bytes === null) return null;
  switch (endpoint.countsRequest) {
    case 'characters':
      return countCharacters(bytes);
    case 'queries':
      return createSentQueries(parseJson(bytes));
    case 'pictures':
      return countPictures(bytes, request.header('content-type') ?? null);
  }
}

/** For how long it asked its prompt to be cached. */
export function readSentLifetime(request: AcceptedRequest, received: ReceivedBody, copy: BodyCopy): AskedLifetime {
  if (received.kind === 'none') return 'default';
  const bytes = readWhole(request, received, copy);
  return bytes === null ? 'unknown' : readAskedLifetime(bytes);
}

/** Of a body that was passed on as it came, its copy if that has all of it: what is not seen may be in the rest. */
function readWhole(request: AcceptedRequest, received: ReceivedBody, copy: BodyCopy): Buffer | null {
  if (!isIdentity(request.header('content-encoding') ?? null)) return null;
  if (received.kind === 'held') return received.bytes;
  if (received.kind !== 'streamed' || copy.isDropped) return null;
  const { bytes } = copy.read();
  return bytes.length === copy.totalBytes ? bytes : null;
}

/** Null when the whole is not one JSON object with each of them at most once. */
function scanWhole(bytes: Buffer, wanted: readonly string[]): TopLevelScan['members'] | null {
  const { state, members, duplicates } = scanTopLevel(bytes, wanted);
  return state === 'complete' && duplicates.length === 0 ? members : null;
}

function countCharacters(bytes: Buffer): TokenUsage | null {
  const input = scanWhole(bytes, ['input'])?.get('input')?.scalar;
  if (typeof input !== 'string') return null;
  const characters = countCodePoints(input);
  return { classes: { input_characters: characters }, reasoning: null, native: { input_characters: characters } };
}

/** A character outside the basic plane is two code units and one character. */
function countCodePoints(text: string): number {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
}

function countPictures(bytes: Buffer, contentType: string | null): TokenUsage | null {
  const boundary = readBoundary(contentType);
  if (boundary !== null) {
    const fields = readMultipartFields(bytes, boundary, PICTURE_NAMES);
    if (fields.get(STREAM) === 'true') return null;
    return createSentPictures({ n: fields.get('n'), size: fields.get('size'), quality: fields.get('quality') });
  }
  const members = scanWhole(bytes, PICTURE_NAMES);
  if (members === null || members.get(STREAM)?.scalar === true) return null;
  const [n, size, quality] = PICTURE_NAMES.map((name) => {
    const member = members.get(name);
    // A list or an object is there, and says nothing.
    return member === undefined || member.scalar !== undefined ? member?.scalar : false;
  });
  return createSentPictures({ n, size, quality });
}
