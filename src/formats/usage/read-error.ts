/** Reads errors in bodies and events: `{"error": {…}}`, Google's `status`, AWS's `{"message"}`, `{"error": "text"}`. */
import type { JsonObject, JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { isObject, readName } from './read-json.ts';

const MAX_MESSAGE_CHARS = 1000;

function bounded(text: JsonValue | undefined): string | null {
  return typeof text === 'string' && text !== '' ? text.slice(0, MAX_MESSAGE_CHARS) : null;
}

export function withError(reported: ReportedUsage, type: string | null, message: JsonValue | undefined): ReportedUsage {
  return { ...reported, error: { type, message: bounded(message) } };
}

/** Null and absent `error` members change nothing. */
export function withErrorMember(reported: ReportedUsage, body: JsonValue): ReportedUsage {
  const error = isObject(body) ? body['error'] : undefined;
  if (typeof error === 'string') return error === '' ? reported : withError(reported, null, error);
  return isObject(error) ? withError(reported, typeOf(error), error['message']) : reported;
}

/** OpenAI and Anthropic use `type`, Google `status`, some only `code`, as a word or a number. */
function typeOf(error: JsonObject): string | null {
  const code = error['code'];
  const named = readName(error, 'type') ?? readName(error, 'status') ?? readName(error, 'code');
  return named ?? (typeof code === 'number' ? String(code) : null);
}

/** Takes a body with a status of 400 or above. */
export function withErrorBody(reported: ReportedUsage, body: JsonValue): ReportedUsage {
  const first = Array.isArray(body) ? body[0] : body;
  if (!isObject(first)) return reported;
  const found = withErrorMember(reported, first);
  if (found !== reported) return found;
  const message = first['message'] ?? first['Message'];
  const type = awsType(first);
  return bounded(message) === null && type === null ? reported : withError(reported, type, message);
}

/** `com.amazon.coral.service#ThrottlingException:http://…` → `ThrottlingException`. */
function awsType(body: JsonObject): string | null {
  const text = readName(body, '__type') ?? readName(body, 'type');
  return text === null ? null : (text.split('#').pop()?.split(':')[0] ?? null);
}
