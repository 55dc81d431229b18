/** The frames of an AWS event stream (Bedrock's streams) from the bytes of a stored body, by the codec that the gateway uses. */
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { parseJson, readText } from './json-reading.ts';
import type { StreamEvent } from './stream-events.ts';

const LENGTH_BYTES = 4;

const UTF8 = new TextDecoder();
const CODEC = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : UTF8.decode(bytes)),
  (text) => new TextEncoder().encode(text),
);

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

/** Throws for bytes that are no frame. */
function readFrame(frame: Uint8Array): StreamEvent {
  const { headers, body } = CODEC.decode(frame);
  const header = (name: string) => (headers[name]?.type === 'string' ? headers[name].value : null);
  const text = UTF8.decode(body);
  const name = header(':event-type') ?? header(':exception-type') ?? header(':error-code');
  const payload = unwrap(parseJson(text) ?? text);
  if ((header(':message-type') ?? 'event') === 'event') return { name, data: payload };
  return { name, data: { error: { type: name, message: header(':error-message') ?? readText(payload, 'message') } } };
}

/** `isWhole` false: the bytes do not end with a frame (the answer was cut, or only its head was kept). */
export function readAwsEventStream(bytes: Uint8Array): {
  readonly events: readonly StreamEvent[];
  readonly isWhole: boolean;
} {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const events: StreamEvent[] = [];
  let at = 0;
  while (bytes.length - at >= LENGTH_BYTES) {
    const length = view.getUint32(at);
    if (length > bytes.length - at) return { events, isWhole: false };
    try {
      events.push(readFrame(bytes.subarray(at, at + length)));
    } catch {
      return { events, isWhole: false };
    }
    at += length;
  }
  return { events, isWhole: at === bytes.length };
}
