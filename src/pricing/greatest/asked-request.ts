/** What a request's JSON says of how much it may cost. The body is scanned, not parsed: it may be megabytes long. */
import { isObject, parseJson } from '../../formats/usage/read-json.ts';
import { scanTopLevel, type TopLevelMember, type TopLevelScan } from '../../formats/wire/json-top-level.ts';
import type { JsonObject } from '../../vocabulary/token-usage.ts';
import { type AskedTools, NO_TOOLS, readAskedTools, UNREAD_TOOLS } from './asked-tools.ts';
import { MAY_TELL_MEDIA } from './media.ts';

export interface AskedRequest {
  /** The longest answer that the request allows; null where it states none. */
  readonly statedOutput: number | null;
  /** How many answers are written to the prompt. */
  readonly answers: number;
  readonly tools: AskedTools;
  /** A part of the prompt, of unknown length, is kept by the provider: a conversation, a cache. */
  readonly namesStored: boolean;
  /** The answer that it goes on, which the provider keeps with all that came before. */
  readonly previousAnswer: string | null;
  /** Something that the request asks for can make the provider call any number of models. */
  readonly isOpenEnded: boolean;
  readonly serviceTier: string | null;
  readonly speed: string | null;
  readonly inferenceGeo: string | null;
  readonly wantsSound: boolean;
  /** A predicted answer; what of it is not used is billed as output. */
  readonly predictedBytes: number;
  /** Whether it asks for its prompt to be kept, and for longer than usual. */
  readonly cacheWrites: 'none' | 'default' | 'long';
  /** Its bytes were searched: there is no picture, sound, file or document in it. */
  readonly isTextOnly: boolean;
}

const STATED = [
  'max_completion_tokens',
  'max_tokens',
  'max_output_tokens',
  'max_tokens_to_sample',
  'max_gen_len',
  'maxTokens',
] as const;
/** Member → the name of the limit within it. */
const STATED_WITHIN: Readonly<Record<string, readonly string[]>> = {
  generationConfig: ['maxOutputTokens'],
  generation_config: ['max_output_tokens', 'maxOutputTokens'],
  inferenceConfig: ['maxTokens', 'max_new_tokens'],
  textGenerationConfig: ['maxTokenCount'],
};
const ANSWERS_WITHIN: Readonly<Record<string, readonly string[]>> = {
  generationConfig: ['candidateCount'],
  generation_config: ['candidate_count', 'candidateCount'],
};
const PREVIOUS = 'previous_response_id';
const STORED = ['previous_interaction_id', 'conversation', 'cachedContent', 'cached_content'];
const TOOLS = ['tools', 'toolConfig', 'functions'];
/** Agents, second models and searches without a stated number. */
const OPEN_ENDED = ['mcp_servers', 'fallbacks', 'web_search_options', 'web_search', 'agent'];
const SOUND = ['audio', 'modalities'];
/** All members that tell something of the cost, but for those that state a maximum. */
const TELLING: ReadonlySet<string> = new Set([
  ...Object.keys(STATED_WITHIN),
  ...Object.keys(ANSWERS_WITHIN),
  ...STORED,
  ...TOOLS,
  ...OPEN_ENDED,
  ...SOUND,
  PREVIOUS,
  'prompt',
  'n',
  'best_of',
  'max_tool_calls',
  'context_management',
  'service_tier',
  'serviceTier',
  'speed',
  'inference_geo',
  'prediction',
]);
/** Configurations are short; one with a longer schema is not parsed. */
const MAX_PARSED_BYTES = 256 * 1024;
/** In a longer body nothing is searched for: it may hold all of it. */
const MAX_SEARCHED_BYTES = 512 * 1024;
/** The text of a longer one would be made twice. */
const MAX_PLAIN_BYTES = 64 * 1024;
/** What `readMedia` and `readCacheWrites` look for, and more. */
const MAY_NOT_BE_PLAIN = new RegExp(`${MAY_TELL_MEDIA.source}|"(?:cache_control"|cachePoint"|prompt_cache)`);

type Members = ReadonlyMap<string, TopLevelMember>;

function textOf(members: Members, name: string): string | null {
  const value = members.get(name)?.scalar;
  return typeof value === 'string' && value !== '' ? value : null;
}

function countOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
}

function isThere(member: TopLevelMember | undefined): boolean {
  return member !== undefined && member.scalar !== null && member.scalar !== false;
}

/** Most requests: a text, and at most a stated maximum. */
const PLAIN_REQUEST: AskedRequest = Object.freeze({
  statedOutput: null,
  answers: 1,
  tools: NO_TOOLS,
  namesStored: false,
  previousAnswer: null,
  isOpenEnded: false,
  serviceTier: null,
  speed: null,
  inferenceGeo: null,
  wantsSound: false,
  predictedBytes: 0,
  cacheWrites: 'none',
  isTextOnly: true,
});

/**
 * Null where the body is not one JSON object with each of its members once. `scan`: of the body, with all its members.
 */
export function readAskedRequest(
  body: Buffer,
  model: string,
  scan: TopLevelScan = scanTopLevel(body, null),
): AskedRequest | null {
  const { state, members, duplicates } = scan;
  if (state !== 'complete' || duplicates.length > 0) return null;
  return readPlainRequest(body, members) ?? readAnyRequest(body, members, model);
}

/** What any request is read as, in a fraction of the time; null for one that is not plain. */
function readPlainRequest(body: Buffer, members: Members): AskedRequest | null {
  if (body.length > MAX_PLAIN_BYTES) return null;
  for (const name of members.keys()) if (TELLING.has(name)) return null;
  if (MAY_NOT_BE_PLAIN.test(body.toString('latin1'))) return null;
  const statedOutput = readStated(members);
  return statedOutput === null ? PLAIN_REQUEST : { ...PLAIN_REQUEST, statedOutput };
}

function readStated(members: Members): number | null {
  let most: number | null = null;
  for (const name of STATED) {
    const count = countOf(members.get(name)?.scalar);
    if (count !== null && (most === null || count > most)) most = count;
  }
  return most;
}

function readAnyRequest(body: Buffer, members: Members, model: string): AskedRequest {
  const sliceOf = (name: string): Buffer | null => {
    const member = members.get(name);
    if (member === undefined || member.valueEnd === null || !isThere(member)) return null;
    return body.subarray(member.valueStart, member.valueEnd);
  };
  const objectOf = (name: string): JsonObject | null => {
    const slice = sliceOf(name);
    if (slice === null || slice.length > MAX_PARSED_BYTES) return null;
    const value = parseJson(slice);
    return isObject(value) ? value : null;
  };
  const within = (names: Readonly<Record<string, readonly string[]>>): readonly number[] =>
    Object.entries(names).flatMap(([name, inner]) => {
      const object = objectOf(name);
      return object === null ? [] : inner.flatMap((member) => countOf(object[member]) ?? []);
    });

  const stated = [readStated(members) ?? [], within(STATED_WITHIN)].flat();
  const prompts = countPrompts(sliceOf('prompt'));
  const asked = ['n', 'best_of'].flatMap((name) => countOf(members.get(name)?.scalar) ?? []);
  const toolSlices = TOOLS.flatMap((name) => sliceOf(name) ?? []);
  const prompt = sliceOf('prompt');
  return {
    statedOutput: stated.length === 0 ? null : Math.max(...stated),
    answers: Math.max(1, ...asked, ...within(ANSWERS_WITHIN)) * prompts,
    tools: readTools(toolSlices, model, countOf(members.get('max_tool_calls')?.scalar)),
    namesStored: STORED.some((name) => isThere(members.get(name))) || prompt?.[0] === 123,
    previousAnswer: textOf(members, PREVIOUS),
    isOpenEnded:
      OPEN_ENDED.some((name) => isThere(members.get(name))) ||
      sliceOf('context_management')?.includes('compact') === true,
    serviceTier: textOf(members, 'service_tier') ?? textOf(members, 'serviceTier') ?? tierWithin(objectOf),
    speed: textOf(members, 'speed'),
    inferenceGeo: textOf(members, 'inference_geo'),
    wantsSound: SOUND.some((name) => sliceOf(name)?.includes(name === 'audio' ? '{' : 'audio') === true),
    predictedBytes: sliceOf('prediction')?.length ?? 0,
    cacheWrites: readCacheWrites(body),
    isTextOnly: false,
  };
}

function readTools(slices: readonly Buffer[], model: string, maxCalls: number | null): AskedTools {
  if (slices.length === 0) return NO_TOOLS;
  if (slices.some(({ length }) => length > MAX_SEARCHED_BYTES)) return UNREAD_TOOLS;
  return readAskedTools(slices.map((slice) => slice.toString('latin1')).join(), model, maxCalls);
}

/** AWS: `serviceTier: { type }`. */
function tierWithin(objectOf: (name: string) => JsonObject | null): string | null {
  const type = objectOf('serviceTier')?.['type'];
  return typeof type === 'string' ? type : null;
}

/** A list of texts is a list of prompts, each with its answers; a list of numbers is one prompt. */
function countPrompts(prompt: Buffer | null): number {
  if (prompt === null || prompt[0] !== 91 || prompt.length > MAX_PARSED_BYTES) return 1;
  const value = parseJson(prompt);
  if (!Array.isArray(value)) return 1;
  return Math.max(1, value.filter((element) => typeof element !== 'number').length);
}

function readCacheWrites(body: Buffer): AskedRequest['cacheWrites'] {
  if (body.length > MAX_SEARCHED_BYTES) return 'long';
  if (!body.includes('"cache_control"') && !body.includes('"cachePoint"') && !body.includes('"prompt_cache'))
    return 'none';
  return body.includes('"1h"') || body.includes('"12h"') || body.includes('"24h"') ? 'long' : 'default';
}
