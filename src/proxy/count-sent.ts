/** Counts what a request sent, for endpoints billed by it whose answers do not report it. */

import { type AskedLifetime, readAskedLifetime } from '../formats/usage/asked-lifetime.ts';
import { parseJson } from '../formats/usage/read-json.ts';
import { createSentPictures } from '../formats/usage/sent-pictures.ts';
import { createSentQueries } from '../formats/usage/sent-queries.ts';
import { isIdentity } from '../formats/wire/content-encoding.ts';
import { scanTopLevel, type TopLevelScan } from '../formats/wire/json-top-level.ts';
import { readBoundary, readMultipartFields } from '../formats/wire/multipart-fields.ts';
import type { Endpoint } from '../providers/provider.ts';
import type { TokenUsage } from '../vocabulary/token-usage.ts';
import type { BodyCopy } from './body-copy.ts';
import type { ReceivedBody } from './receive-body.ts';
import type { ValidRequest } from './validate-request.ts';

/** Models that stream pictures are billed by the token, so a cut stream says nothing here. */
const STREAM = 'stream';
const PICTURE_NAMES = ['n', 'size', 'quality', STREAM] as const;

/** Null when the endpoint is not billed so, or the body is encoded, too large, or of another form. */
export function countSent(
  endpoint: Endpoint,
  request: ValidRequest,
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

/** How long the request asked its prompt to be cached. */
export function readSentLifetime(request: ValidRequest, received: ReceivedBody, copy: BodyCopy): AskedLifetime {
  if (received.kind === 'none') return 'default';
  const bytes = readWhole(request, received, copy);
  return bytes === null ? 'unknown' : readAskedLifetime(bytes);
}

/** The body, or its copy when that is complete: what is not seen may be in the rest. */
function readWhole(request: ValidRequest, received: ReceivedBody, copy: BodyCopy): Buffer | null {
  if (!isIdentity(request.header('content-encoding') ?? null)) return null;
  if (received.kind === 'held') return received.bytes;
  if (received.kind !== 'streamed' || copy.isDropped) return null;
  const { bytes } = copy.read();
  return bytes.length === copy.totalBytes ? bytes : null;
}

/** Null unless the body is one JSON object with each member at most once. */
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

/** Characters outside the basic plane are two code units each. */
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
    // A list or an object is present but states no value.
    return member === undefined || member.scalar !== undefined ? member?.scalar : false;
  });
  return createSentPictures({ n, size, quality });
}
