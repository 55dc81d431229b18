/**
 * Reads errors as the providers write them, in error bodies and in events of a stream: OpenAI's and Anthropic's
 * `{"error": {…}}`, Google's with `status`, AWS's `{"message"}`, Fireworks's `{"error": "text"}`.
 */
import type { JsonObject, JsonValue, UsageReading } from '../token-usage.ts';
import { isObject, readName } from './json-reading.ts';

const MAX_MESSAGE_CHARS = 1000;

function bounded(text: JsonValue | undefined): string | null {
  return typeof text === 'string' && text !== '' ? text.slice(0, MAX_MESSAGE_CHARS) : null;
}

export function withError(reading: UsageReading, type: string | null, message: JsonValue | undefined): UsageReading {
  return { ...reading, error: { type, message: bounded(message) } };
}

/** Takes in the `error` member of a body or event; null and absent change nothing. */
export function withErrorMember(reading: UsageReading, body: JsonValue): UsageReading {
  const error = isObject(body) ? body['error'] : undefined;
  if (typeof error === 'string') return error === '' ? reading : withError(reading, null, error);
  return isObject(error) ? withError(reading, typeOf(error), error['message']) : reading;
}

/** OpenAI and Anthropic say `type`; Google says `status`; some say only `code`, as a word or a number. */
function typeOf(error: JsonObject): string | null {
  const code = error['code'];
  const named = readName(error, 'type') ?? readName(error, 'status') ?? readName(error, 'code');
  return named ?? (typeof code === 'number' ? String(code) : null);
}

/** A body that came with a status of 400 or above. */
export function withErrorBody(reading: UsageReading, body: JsonValue): UsageReading {
  // Google wraps the error of its array stream in an array.
  const first = Array.isArray(body) ? body[0] : body;
  if (!isObject(first)) return reading;
  const found = withErrorMember(reading, first);
  if (found !== reading) return found;
  const message = first['message'] ?? first['Message'];
  const type = awsType(first);
  return bounded(message) === null && type === null ? reading : withError(reading, type, message);
}

/** `com.amazon.coral.service#ThrottlingException:http://…` → `ThrottlingException`. */
function awsType(body: JsonObject): string | null {
  const text = readName(body, '__type') ?? readName(body, 'type');
  return text === null ? null : (text.split('#').pop()?.split(':')[0] ?? null);
}
