/**
 * The frames of an AWS event stream (Bedrock's streams) from the bytes of a stored body. For display: lengths are
 * checked, checksums are not; the gateway checked them when it metered the call.
 */
import { parseJson, readText } from './json-reading.ts';
import type { StreamEvent } from './stream-events.ts';

/** Total length, length of the headers, and the checksum of both. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
const STRING_HEADER = 7;

/** Bytes of a header's value by its type; null: two bytes of length come first. */
const VALUE_BYTES: readonly (number | null)[] = [0, 0, 1, 2, 4, 8, null, null, 8, 16];

const UTF8 = new TextDecoder();

function readHeaders(bytes: Uint8Array): ReadonlyMap<string, string> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headers = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const nameEnd = at + 1 + view.getUint8(at);
    const name = UTF8.decode(bytes.subarray(at + 1, nameEnd));
    const type = view.getUint8(nameEnd);
    const fixed = VALUE_BYTES[type];
    if (fixed === undefined) break;
    const start = nameEnd + 1 + (fixed === null ? 2 : 0);
    const end = start + (fixed ?? view.getUint16(nameEnd + 1));
    if (type === STRING_HEADER) headers.set(name, UTF8.decode(bytes.subarray(start, end)));
    at = end;
  }
  return headers;
}

/** InvokeModelWithResponseStream wraps the model's own events as base64. */
function unwrap(payload: unknown): unknown {
  const base64 = readText(payload, 'bytes');
  if (base64 === null) return payload;
  try {
    return parseJson(UTF8.decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)))) ?? payload;
  } catch {
    return payload;
  }
}

function readFrame(frame: Uint8Array, headerBytes: number): StreamEvent {
  const headersEnd = PRELUDE_BYTES + headerBytes;
  const headers = readHeaders(frame.subarray(PRELUDE_BYTES, headersEnd));
  const text = UTF8.decode(frame.subarray(headersEnd, frame.length - CHECKSUM_BYTES));
  const name = headers.get(':event-type') ?? headers.get(':exception-type') ?? headers.get(':error-code') ?? null;
  const payload = unwrap(parseJson(text) ?? text);
  const isException = (headers.get(':message-type') ?? 'event') !== 'event';
  const message = headers.get(':error-message') ?? readText(payload, 'message');
  return { name, data: isException ? { error: { type: name, message } } : payload };
}

/** `isWhole` false: the bytes do not end with a frame (the answer was cut, or only its head was kept). */
export function readAwsEventStream(bytes: Uint8Array): {
  readonly events: readonly StreamEvent[];
  readonly isWhole: boolean;
} {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const events: StreamEvent[] = [];
  let at = 0;
  while (bytes.length - at >= PRELUDE_BYTES + CHECKSUM_BYTES) {
    const length = view.getUint32(at);
    const headerBytes = view.getUint32(at + 4);
    const isBelievable = length >= PRELUDE_BYTES + headerBytes + CHECKSUM_BYTES && length <= bytes.length - at;
    if (!isBelievable) return { events, isWhole: false };
    try {
      events.push(readFrame(bytes.subarray(at, at + length), headerBytes));
    } catch (error) {
      // Headers that point outside of the frame.
      if (!(error instanceof RangeError)) throw error;
      return { events, isWhole: false };
    }
    at += length;
  }
  return { events, isWhole: at === bytes.length };
}
