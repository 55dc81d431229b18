/**
 * Reads from a request's body what the log wants to know, model, `stream` and tier: a member of its JSON or a field of its
 * form, in a body that is held or in the head and tail that were kept of a large one. It changes nothing of the body.
 */
import type { CallFlag } from '../token-usage.ts';
import { type ContentDecoder, createContentDecoder, isIdentity } from '../wire/content-encoding.ts';
import { scanTopLevel, type TopLevelScan } from '../wire/json-top-level.ts';
import { readBoundary, readMultipartFields } from '../wire/multipart-fields.ts';
import type { AcceptedRequest } from './accept.ts';
import type { BodyCopy } from './body-copy.ts';
import type { ReceivedBody } from './receive-body.ts';
import type { BodyFacts } from './record.ts';

/** Of an encoded body so much is decoded, and so much of it becomes. */
const MAX_ENCODED_HEAD_BYTES = 1024 * 1024;
const MAX_DECODED_HEAD_BYTES = 1024 * 1024;
/** Of a form so much is looked through at each end. */
const MAX_FORM_END_BYTES = 512 * 1024;
/** A tier is a word. */
const MAX_TIER_CHARS = 64;
/** How long the end of a call waits for the decoder of an encoded request. */
const DECODE_DEADLINE_MS = 2_000;

const WANTED = ['model', 'stream', 'service_tier'];
const FIELDS = ['model', 'stream', 'session'];

export const NO_BODY_FACTS: BodyFacts = Object.freeze({ model: null, streamed: null });

/** `bytes`: the whole body, or so many bytes of its head and then its tail. Not encoded. */
export function readBodyFacts(contentType: string | null, bytes: Buffer, headBytes: number): BodyFacts {
  const boundary = readBoundary(contentType);
  return boundary === null ? readJsonFacts(bytes, headBytes) : readFormFacts(bytes, headBytes, boundary);
}

function readJsonFacts(bytes: Buffer, headBytes: number): BodyFacts {
  const all = scanTopLevel(bytes, WANTED);
  // Between head and tail something is missing: unless the braces add up, what looks like the top level may be below.
  const isSure = headBytes === bytes.length || all.state === 'complete';
  const scan = isSure ? all : scanTopLevel(bytes.subarray(0, headBytes), WANTED);
  const tier = scan.members.get('service_tier')?.scalar;
  return {
    model: readModel(scan.members.get('model')?.scalar),
    streamed: readStream(scan),
    ...(typeof tier === 'string' ? { serviceTier: tier.slice(0, MAX_TIER_CHARS) } : {}),
  };
}

function readStream(scan: TopLevelScan): boolean | null {
  const stream = scan.members.get('stream')?.scalar;
  return typeof stream === 'boolean' ? stream : null;
}

function readModel(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The tail is read by itself: SDKs that put the file first have their fields there. */
function readFormFacts(bytes: Buffer, headBytes: number, boundary: string): BodyFacts {
  const head = bytes.subarray(0, Math.min(headBytes, MAX_FORM_END_BYTES));
  const tail = bytes.subarray(Math.max(head.length, bytes.length - MAX_FORM_END_BYTES));
  const isWhole = head.length + tail.length === bytes.length && headBytes === bytes.length;
  const fields = isWhole
    ? readMultipartFields(bytes, boundary, FIELDS)
    : new Map([...readMultipartFields(head, boundary, FIELDS), ...readMultipartFields(tail, boundary, FIELDS)]);
  const model = readModel(fields.get('model')) ?? readSessionModel(fields.get('session'));
  return { model, streamed: readSwitch(fields.get('stream')) };
}

/** A call by WebRTC sends its offer, and beside it what the session is to be: JSON with the model in it. */
function readSessionModel(session: string | undefined): string | null {
  if (session === undefined) return null;
  return readModel(scanTopLevel(Buffer.from(session), ['model']).members.get('model')?.scalar);
}

/** A form has only text; SDKs write a boolean in their language's way. */
function readSwitch(text: string | undefined): boolean | null {
  if (text === undefined) return null;
  if (/^(?:true|1)$/i.test(text)) return true;
  return /^(?:false|0)$/i.test(text) ? false : null;
}

/** At the end of a call: `early` where the body could be read before it was forwarded, else what its copy says. */
export async function readFactsAtEnd(
  request: AcceptedRequest,
  received: ReceivedBody,
  copy: BodyCopy,
  early: BodyFacts,
): Promise<BodyFacts> {
  const encoding = request.header('content-encoding') ?? null;
  const isEncoded = !isIdentity(encoding);
  if (received.kind !== 'streamed' && (received.kind !== 'held' || !isEncoded)) return early;
  const { bytes, headBytes } =
    received.kind === 'held' ? { bytes: received.bytes, headBytes: received.bytes.length } : copy.read();
  const contentType = request.header('content-type') ?? null;
  if (!isEncoded) return readBodyFacts(contentType, bytes, headBytes);
  const decoded = await decodeHead(encoding ?? '', bytes.subarray(0, Math.min(headBytes, MAX_ENCODED_HEAD_BYTES)));
  return readBodyFacts(contentType, decoded, decoded.length);
}

/** What the first bytes decode to, up to the limit; nothing when they cannot be decoded. Never rejects. */
function decodeHead(encoding: string, bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let decodedBytes = 0;
    let decoder: ContentDecoder | null = null;
    const deadline = setTimeout(settle, DECODE_DEADLINE_MS);

    function settle(): void {
      clearTimeout(deadline);
      decoder?.destroy();
      resolve(Buffer.concat(parts).subarray(0, MAX_DECODED_HEAD_BYTES));
    }
    function onData(chunk: Buffer): void {
      parts.push(chunk);
      decodedBytes += chunk.length;
      if (decodedBytes >= MAX_DECODED_HEAD_BYTES) settle();
    }
    decoder = createContentDecoder(encoding, onData, settle);
    decoder?.push(bytes);
    decoder?.end();
    if (decoder === null) settle();
  });
}

/** Usage that was not asked for is worth a remark only where there may have been a stream. */
export function withKnownStream(flags: readonly CallFlag[], facts: BodyFacts): readonly CallFlag[] {
  return facts.streamed === false ? flags.filter((flag) => flag !== 'usage_not_asked') : flags;
}
