/**
 * The first tool call of a conversation. A request repeats all that was called before it; where nothing was, its answer may
 * have the first. Providers draw the ids at random, so that one says without doubt which calls are of one conversation.
 * Reads the APIs whose requests carry their history. Bodies are from strangers: what does not fit is passed over.
 */
import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../vocabulary/token-usage.ts';
import { isObject, readName } from '../usage/read-json.ts';
import { hasSecretForm } from '../wire/secret-form.ts';
import type { PlainBody } from './call-texts.ts';
import { readValues } from './read-values.ts';

const CONVERSATION: readonly string[] = ['messages', 'contents', 'input'];
/** The provider has what was said before; the request repeats nothing of it. */
const KEPT_ELSEWHERE: readonly string[] = ['previous_response_id', 'conversation', 'previous_interaction_id'];

const CALL_TYPE = /^(?:tool_use|function_call|custom_tool_call)$/;
/** What a tool was asked and what it answered is the program's, whatever it looks like. */
const RESULT_TYPE = /_(?:result|output)$/;
const OF_PROGRAM: ReadonlySet<string> = new Set(['args', 'arguments', 'functionResponse', 'toolResult']);

const ID = /^[\w.:@+=~|-]{1,128}$/;
/**
 * At least 16 letters and digits, or a UUID, at its end. Some servers count their calls (`call_0`, `functions.bash:0`), and
 * some clients name them after the time: two conversations may have such an id.
 */
const DRAWN_AT_RANDOM = /(?:(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z\d]{16,}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

/** Gemini seals its thoughts with the call and gives few calls an id. Clients put a short word where they have no seal. */
const MIN_SEAL_CHARS = 64;
const SEAL_ID_CHARS = 24;

const MAX_DEPTH = 12;

/**
 * Null for a conversation without such calls. `response`: null also where the request is not whole, since the first call may
 * stand in what is missing.
 */
export function readFirstToolCall(request: PlainBody, response: PlainBody | null): string | null {
  // Mutable: a body that is no conversation has no value that is one.
  let isConversation = false;
  let found: string | null = null;
  readValues(request.head, request.contentType, (body) => {
    isConversation ||= CONVERSATION.some((name) => body[name] !== undefined);
    if (KEPT_ELSEWHERE.some((name) => (body[name] ?? null) !== null)) isConversation = false;
    for (const name of CONVERSATION) found ??= findIn(body[name], 0);
  });
  if (!isConversation) return null;
  if (found === null && response !== null)
    readValues(response.head, response.contentType, (value) => {
      found ??= findIn(value, 0);
    });
  return found;
}

function findIn(value: JsonValue | undefined, depth: number): string | null {
  if (depth > MAX_DEPTH) return null;
  if (isObject(value)) return findInObject(value, depth);
  if (!Array.isArray(value)) return null;
  for (const element of value) {
    const found = findIn(element, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

function findInObject(object: JsonObject, depth: number): string | null {
  const type = readName(object, 'type') ?? '';
  if (CALL_TYPE.test(type)) return idOf(readName(object, 'call_id') ?? readName(object, 'id'));
  if (RESULT_TYPE.test(type)) return null;
  for (const name in object) {
    const value = object[name];
    if (value === undefined || OF_PROGRAM.has(name)) continue;
    const found = findInMember(object, name, value, depth);
    if (found !== null) return found;
  }
  return null;
}

/** Calls of Bedrock's Converse and of Gemini are members, those of Chat Completions a list. */
function findInMember(object: JsonObject, name: string, value: JsonValue, depth: number): string | null {
  if (name === 'toolUse') return idOf(readName(value, 'toolUseId'));
  if (name === 'functionCall') return sealOf(object) ?? idOf(readName(value, 'id'));
  if (name !== 'tool_calls' || !Array.isArray(value)) return findIn(value, depth + 1);
  return value.map((call) => idOf(readName(call, 'id'))).find((id) => id !== null) ?? null;
}

function idOf(id: string | null): string | null {
  return id !== null && ID.test(id) && DRAWN_AT_RANDOM.test(id) && !hasSecretForm(id) ? id : null;
}

function sealOf({ thoughtSignature: seal }: JsonObject): string | null {
  if (typeof seal !== 'string' || seal.length < MIN_SEAL_CHARS) return null;
  return createHash('sha256').update(seal).digest('base64url').slice(0, SEAL_ID_CHARS);
}
