/** What a request's JSON says of how much it may cost. The body is scanned, not parsed: it may be megabytes long. */
import { isObject, parseJson } from '../../formats/usage/read-json.ts';
import { scanTopLevel, type TopLevelMember, type TopLevelScan } from '../../formats/wire/json-top-level.ts';
import type { JsonObject } from '../../vocabulary/token-usage.ts';
import { type AskedTools, endlessTools, joinTools, NO_TOOLS, readAskedTools } from './asked-tools.ts';
import type { Unbounded } from './greatest-cost.ts';
import { MAY_TELL_MEDIA } from './media.ts';
import { mayHideLetters, resolveLetters } from './search-text.ts';

export interface AskedRequest {
  /** The longest answer that the request allows; null where it states none. */
  readonly statedOutput: number | null;
  /** How many answers are written, to all prompts together. */
  readonly answers: number;
  /** Each has a context window of its own. */
  readonly prompts: number;
  readonly tools: AskedTools;
  /** A part of the prompt, of unknown length, is kept by the provider: a conversation, a cache. */
  readonly namesStored: boolean;
  /** The answer that it goes on, which the provider keeps with all that came before. */
  readonly previousAnswer: string | null;
  /** What the request asks for that can make the provider call any number of models. */
  readonly openEnd: Unbounded | null;
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
  /** Names and types in it may be written as escapes. */
  readonly mayHideLetters: boolean;
}

const STATED = [
  'max_completion_tokens',
  'max_tokens',
  'max_output_tokens',
  'max_tokens_to_sample',
  'max_gen_len',
  'maxTokens',
] as const;
/** Member → the names of the limit within it. Google's JSON has each name in two spellings, whatever the other names have. */
const STATED_WITHIN: Readonly<Record<string, readonly string[]>> = {
  generationConfig: ['maxOutputTokens', 'max_output_tokens'],
  generation_config: ['maxOutputTokens', 'max_output_tokens'],
  inferenceConfig: ['maxTokens', 'max_new_tokens'],
  textGenerationConfig: ['maxTokenCount'],
};
const ANSWERS_WITHIN = ['generationConfig', 'generation_config'] as const;
const CANDIDATES = ['candidateCount', 'candidate_count'] as const;
const PREVIOUS = 'previous_response_id';
const STORED = ['previous_interaction_id', 'conversation'];
/** Kept with the tools that it was made with, which may be the provider's own. */
const STORED_WITH_TOOLS = ['cachedContent', 'cached_content'];
/** Google's additions to OpenAI's requests, as its SDKs write them and as they are meant. */
const GOOGLE_EXTRAS = ['extra_body', 'google'];
const CACHE_OR_TOOLS = /"(?:cached_?[cC]ontent|tools)"/;
const TOOLS = ['tools', 'toolConfig', 'tool_config', 'functions'];
/** Agents, second models and searches without a stated number. */
const OPEN_ENDED: Readonly<Record<string, Unbounded['why']>> = {
  mcp_servers: 'endless-tools',
  fallbacks: 'other-models',
  web_search_options: 'endless-tools',
  web_search: 'endless-tools',
  agent: 'other-models',
  compaction: 'other-models',
};
/** Items that bring more tools along, by the member that they stand in. */
const LATER_TOOLS = [
  ['input', 'additional_tools'],
  ['messages', 'tool_addition'],
] as const;
/** AWS passes it on to the model as members of its own request. */
const MODEL_FIELDS = 'additionalModelRequestFields';
const SOUND = ['audio', 'modalities'];
/** The most that Google writes to a prompt. */
const MOST_CANDIDATES = 8;
/** All members that tell something of the cost, but for those that state a maximum. */
const TELLING: ReadonlySet<string> = new Set([
  ...Object.keys(STATED_WITHIN),
  ...ANSWERS_WITHIN,
  ...STORED,
  ...STORED_WITH_TOOLS,
  ...GOOGLE_EXTRAS,
  ...TOOLS,
  ...Object.keys(OPEN_ENDED),
  ...SOUND,
  MODEL_FIELDS,
  PREVIOUS,
  'prompt',
  'n',
  'best_of',
  'max_tool_calls',
  'context_management',
  'service_tier',
  'serviceTier',
  'performanceConfig',
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
/** What is looked for in other requests, and more. */
const MAY_NOT_BE_PLAIN = new RegExp(
  `${MAY_TELL_MEDIA.source}|"(?:cache_control"|cachePoint"|prompt_cache|additional_tools"|tool_addition")`,
);

const QUOTE = 34;
const OPEN_BRACKET = 91;
const OPEN_BRACE = 123;

type Members = ReadonlyMap<string, TopLevelMember>;

function textOf(members: Members, name: string): string | null {
  const value = members.get(name)?.scalar;
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Google's JSON writes whole numbers as texts as well, and some hosts read such texts. */
function countOf(value: unknown): number | null {
  const count =
    typeof value === 'string' && /^\s*\+?\d{1,15}(?:\.0*)?\s*$/.test(value) ? Number.parseInt(value, 10) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count > 0 ? count : null;
}

function isThere(member: TopLevelMember | undefined): boolean {
  return member !== undefined && member.scalar !== null && member.scalar !== false;
}

/** Most requests: a text, and at most a stated maximum. */
const PLAIN_REQUEST: AskedRequest = Object.freeze({
  statedOutput: null,
  answers: 1,
  prompts: 1,
  tools: NO_TOOLS,
  namesStored: false,
  previousAnswer: null,
  openEnd: null,
  serviceTier: null,
  speed: null,
  inferenceGeo: null,
  wantsSound: false,
  predictedBytes: 0,
  cacheWrites: 'none',
  isTextOnly: true,
  mayHideLetters: false,
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
  const mayHide = mayHideLetters(body);
  const plain = mayHide ? null : readPlainRequest(body, members);
  if (plain !== null) return plain;
  const request = readAnyRequest(body, members, model, mayHide);
  const fields = members.get(MODEL_FIELDS);
  if (fields === undefined || fields.valueEnd === null || !isThere(fields)) return request;
  const slice = body.subarray(fields.valueStart, fields.valueEnd);
  const within = scanTopLevel(slice, null);
  if (within.state !== 'complete' || within.duplicates.length > 0) return null;
  return joinRequests(request, readAnyRequest(slice, within.members, model, mayHide));
}

/** What both of them may cost: the model is asked once, with the members of both. */
function joinRequests(first: AskedRequest, second: AskedRequest): AskedRequest {
  const stated = [first.statedOutput ?? [], second.statedOutput ?? []].flat();
  return {
    ...first,
    statedOutput: stated.length === 0 ? null : Math.max(...stated),
    answers: first.answers * second.answers,
    prompts: first.prompts * second.prompts,
    tools: joinTools(first.tools, second.tools),
    namesStored: first.namesStored || second.namesStored,
    previousAnswer: first.previousAnswer ?? second.previousAnswer,
    openEnd: first.openEnd ?? second.openEnd,
    serviceTier: first.serviceTier ?? second.serviceTier,
    speed: first.speed ?? second.speed,
    inferenceGeo: first.inferenceGeo ?? second.inferenceGeo,
    wantsSound: first.wantsSound || second.wantsSound,
    predictedBytes: first.predictedBytes + second.predictedBytes,
    cacheWrites: second.cacheWrites === 'long' ? 'long' : first.cacheWrites,
  };
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

function readAnyRequest(body: Buffer, members: Members, model: string, mayHide: boolean): AskedRequest {
  const sliceOf = (name: string): Buffer | null => {
    const member = members.get(name);
    if (member === undefined || member.valueEnd === null || !isThere(member)) return null;
    return body.subarray(member.valueStart, member.valueEnd);
  };
  const parsed = new Map<string, JsonObject | null>();
  const objectOf = (name: string): JsonObject | null => {
    const known = parsed.get(name);
    if (known !== undefined) return known;
    const slice = sliceOf(name);
    const value = slice === null || slice.length > MAX_PARSED_BYTES ? undefined : parseJson(slice);
    const found = isObject(value) ? value : null;
    parsed.set(name, found);
    return found;
  };
  const statedWithin = Object.entries(STATED_WITHIN).flatMap(([name, inner]) => {
    const object = objectOf(name);
    return object === null ? [] : inner.flatMap((member) => countOf(object[member]) ?? []);
  });
  const candidates = ANSWERS_WITHIN.map((name) => (sliceOf(name) === null ? 1 : countCandidates(objectOf(name))));

  const textOfSlice = (slice: Buffer): string => (mayHide ? resolveLetters(slice) : slice).toString('latin1');
  const textOfMember = (name: string): string => {
    const slice = sliceOf(name);
    return slice === null ? '' : textOfSlice(slice);
  };
  const searched = mayHide ? resolveLetters(body) : body;
  const stated = [readStated(members) ?? [], statedWithin].flat();
  const prompt = sliceOf('prompt');
  const prompts = countPrompts(prompt);
  const asked = ['n', 'best_of'].flatMap((name) => countOf(members.get(name)?.scalar) ?? []);
  const keptTools =
    STORED_WITH_TOOLS.find((name) => isThere(members.get(name))) ??
    GOOGLE_EXTRAS.find((name) => CACHE_OR_TOOLS.test(textOfMember(name))) ??
    (prompt?.[0] === OPEN_BRACE ? 'prompt' : undefined);
  return {
    statedOutput: stated.length === 0 ? null : Math.max(...stated),
    answers: Math.max(1, ...asked, ...candidates) * (prompts ?? 1),
    prompts: prompts ?? 1,
    tools:
      keptTools !== undefined
        ? endlessTools('kept-tools', keptTools)
        : readTools(
            TOOLS.flatMap((name) => sliceOf(name) ?? []),
            textOfSlice,
            model,
            countOf(members.get('max_tool_calls')?.scalar),
          ),
    namesStored: keptTools !== undefined || STORED.some((name) => isThere(members.get(name))),
    previousAnswer: textOf(members, PREVIOUS),
    openEnd:
      prompts === null
        ? { why: 'unknown-length', member: 'prompt' }
        : findOpenEnd(members, textOfMember('context_management'), searched),
    serviceTier: textOf(members, 'service_tier') ?? textOf(members, 'serviceTier') ?? tierWithin(objectOf),
    speed: textOf(members, 'speed') ?? latencyWithin(objectOf),
    inferenceGeo: textOf(members, 'inference_geo'),
    wantsSound: SOUND.some((name) => textOfMember(name).includes(name === 'audio' ? '{' : 'audio')),
    predictedBytes: sliceOf('prediction')?.length ?? 0,
    cacheWrites: readCacheWrites(searched),
    isTextOnly: false,
    mayHideLetters: mayHide,
  };
}

function findOpenEnd(members: Members, contextManagement: string, searched: Buffer): Unbounded | null {
  const named = Object.entries(OPEN_ENDED).find(([name]) => isThere(members.get(name)));
  if (named !== undefined) return { why: named[1], member: named[0] };
  if (contextManagement.includes('compact')) return { why: 'other-models', member: 'context_management' };
  const later = LATER_TOOLS.find(([member, type]) => members.has(member) && searched.includes(`"${type}"`));
  return later === undefined ? null : { why: 'endless-tools', member: later[1] };
}

/** `config`: null where it could not be read. A count that could not be may be any. */
function countCandidates(config: JsonObject | null): number {
  if (config === null) return MOST_CANDIDATES;
  return Math.max(
    1,
    ...CANDIDATES.map((name) => (config[name] == null ? 1 : (countOf(config[name]) ?? MOST_CANDIDATES))),
  );
}

function readTools(
  slices: readonly Buffer[],
  textOfSlice: (slice: Buffer) => string,
  model: string,
  maxCalls: number | null,
): AskedTools {
  if (slices.length === 0) return NO_TOOLS;
  if (slices.some(({ length }) => length > MAX_SEARCHED_BYTES)) return endlessTools('endless-tools', 'tools');
  return readAskedTools(slices, slices.map(textOfSlice).join(), model, maxCalls);
}

/** AWS: `serviceTier: { type }`. */
function tierWithin(objectOf: (name: string) => JsonObject | null): string | null {
  const type = objectOf('serviceTier')?.['type'];
  return typeof type === 'string' ? type : null;
}

/** AWS: `performanceConfig: { latency }`. */
function latencyWithin(objectOf: (name: string) => JsonObject | null): string | null {
  const latency = objectOf('performanceConfig')?.['latency'];
  return typeof latency === 'string' ? latency : null;
}

/** A list of texts is a list of prompts, each with its answers; a list of numbers is one prompt. Null: too long to be read. */
function countPrompts(prompt: Buffer | null): number | null {
  if (prompt === null || prompt[0] !== OPEN_BRACKET) return 1;
  if (prompt.length > MAX_PARSED_BYTES) {
    const holdsNumbers = !prompt.includes(QUOTE) && prompt.indexOf(OPEN_BRACKET, 1) === -1;
    return holdsNumbers ? 1 : null;
  }
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
