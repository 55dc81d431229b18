/**
 * Tools in a request. One that the client runs adds its description to the prompt; one that the provider runs calls the
 * model again with all that came before, and may cost by itself.
 */
import { isObject, parseJson } from '../../formats/usage/read-json.ts';
import type { JsonObject, JsonValue } from '../../vocabulary/token-usage.ts';
import type { Unbounded } from './greatest-cost.ts';

export interface AskedTools {
  /** Tools with a description of the provider's own, which no byte of the request is for. */
  readonly described: number;
  /** How often the provider may call the model: 1 without tools of its own. */
  readonly rounds: number;
  /** Where nothing limits that, or what else they cost. */
  readonly endless: Unbounded | null;
  /** Kinds of grounding that are billed for the answer, however many searches it took. */
  readonly groundings: number;
}

export const NO_TOOLS: AskedTools = Object.freeze({ described: 0, rounds: 1, endless: null, groundings: 0 });

export function endlessTools(why: Unbounded['why'], member: string): AskedTools {
  return { ...NO_TOOLS, endless: { why, member } };
}

/** Names of tools that a refusal may repeat. A type of another beginning may be anything that the client wrote. */
const KNOWN_TOOLS: readonly string[] = [
  'web_search',
  'web_fetch',
  'file_search',
  'tool_search',
  'code_interpreter',
  'code_execution',
  'computer_use_preview',
  'mcp',
  'image_generation',
  'advisor',
];

export function joinTools(first: AskedTools, second: AskedTools): AskedTools {
  if (first === NO_TOOLS || second === NO_TOOLS) return first === NO_TOOLS ? second : first;
  return {
    described: first.described + second.described,
    rounds: first.rounds + second.rounds - 1,
    endless: first.endless ?? second.endless,
    groundings: first.groundings + second.groundings,
  };
}

/** Types of JSON schemas, Google's among them, and of tools whose description the request holds. */
const WRITTEN_OUT =
  /^(?:string|number|integer|boolean|object|array|null|function|custom|tool|text|ephemeral|grammar|json_schema|url|auto|any|none)$/i;
/** Run by the client. Sources: OpenAI, Tools; Anthropic, Tool use; November 2026. */
const BY_CLIENT = /^(?:computer|text_editor|bash|memory|local_shell|apply_patch)(?:_|$)/;
/** Billed at the rates of a model that the request may not even name: it draws, or gives advice. */
const BY_OTHER_MODEL = /^(?:image_generation|advisor_)/;
/** Its searches have a price of their own, which is higher with these models. Source: OpenAI, Pricing; November 2026. */
const PREVIEW_SEARCH = /^web_search_preview/;
const HAS_PREVIEW_PRICE = /gpt-4/;

/**
 * They run code of their own on what they find, each time in a further round; `max_uses` is of their searches alone. Source:
 * Anthropic, Web search and Web fetch tools; November 2026.
 */
const FILTERS_BY_CODE = /^web_(?:search|fetch)_(\d{8})/;
const FILTERS_SINCE = '20260209';

/** No provider has deeper groups; a client's may be as deep as the stack. */
const MAX_DEPTH = 8;
/** Counts as the provider's, without a limit. */
const UNREAD_TOOL: JsonObject = Object.freeze({ type: 'unread' });

const TYPE = /"type"\s*:\s*"([^"]{1,100})/g;
/** Members that are tools of Google's and AWS's own. */
const BY_MEMBER =
  /"(?:google_?[sS]earch|google_?[mM]aps|google_?[sS]earch_?[rR]etrieval|retrieval|url_?[cC]ontext|code_?[eE]xecution|file_?[sS]earch|enterprise_?[wW]eb_?[sS]earch|exa_?[aA]i_?[sS]earch|parallel_?[aA]i_?[sS]earch|mcp_?[sS]ervers|systemTool)"\s*:/;
const SEARCH = /^google_?search$/i;
const MAPS = /^google_?maps$/i;
/** Before Gemini 3 Google bills the grounded answer; since then each search, without a limit. */
const IS_BILLED_ONCE = /gemini-(?:1|2)\b/;

/**
 * `slices`: the members with the tools, and `text` all of them as `readSearchText` gives it. `maxCalls`: what the request
 * states for all tools together.
 */
export function readAskedTools(
  slices: readonly Buffer[],
  text: string,
  model: string,
  maxCalls: number | null,
): AskedTools {
  const described = countDescribed(text);
  if (described !== null) return { ...NO_TOOLS, described };
  const values = slices.map((slice) => parseJson(slice));
  // Only the tools themselves tell which of them a limit is for: their schemas may have any names.
  return values.includes(undefined)
    ? endlessTools('endless-tools', 'tools')
    : judgeTools(
        values.flatMap((value) => listTools(value)),
        model,
        maxCalls,
      );
}

/** Null where some may be the provider's own, so that they have to be read one by one. */
function countDescribed(text: string): number | null {
  if (BY_MEMBER.test(text)) return null;
  let described = 0;
  for (const [, type = ''] of text.matchAll(TYPE)) {
    if (BY_CLIENT.test(type)) described += 1;
    else if (!WRITTEN_OUT.test(type)) return null;
  }
  return described;
}

/** AWS's are a member of `toolConfig`, and OpenAI's may be in groups. */
function listTools(value: JsonValue | undefined, depth = 0): readonly JsonObject[] {
  if (depth > MAX_DEPTH) return [UNREAD_TOOL];
  if (Array.isArray(value)) return value.flatMap((element: JsonValue) => listTools(element, depth + 1));
  if (!isObject(value)) return [];
  const within = listTools(value['tools'], depth + 1);
  return value['type'] === 'namespace' ? within : [value, ...within];
}

function judgeTools(tools: readonly JsonObject[], model: string, maxCalls: number | null): AskedTools {
  let described = 0;
  let uses = 0;
  let endless: Unbounded | null = null;
  let hasRounds = false;
  for (const tool of tools) {
    const type = typeof tool['type'] === 'string' ? tool['type'] : 'custom';
    if (isEndless(tool, type, model))
      return endlessTools(callsOtherModel(tool, type) ? 'other-models' : 'endless-tools', nameOfTool(type));
    if (WRITTEN_OUT.test(type)) continue;
    described += 1;
    if (BY_CLIENT.test(type)) continue;
    hasRounds = true;
    const own = filtersByCode(type) ? undefined : tool['max_uses'];
    if (typeof own === 'number' && Number.isSafeInteger(own) && own >= 0) uses += own;
    else endless ??= { why: 'endless-tools', member: nameOfTool(type) };
  }
  const groundings = [SEARCH, MAPS].filter((kind) => tools.some((tool) => hasMember(tool, kind))).length;
  if (groundings > 0 && !IS_BILLED_ONCE.test(model)) return endlessTools('endless-tools', 'googleSearch');
  const calls = hasRounds ? (maxCalls ?? uses) : 0;
  return { described, rounds: calls + 1, endless: maxCalls === null ? endless : null, groundings };
}

function nameOfTool(type: string): string {
  return KNOWN_TOOLS.find((name) => type.startsWith(name)) ?? 'tools';
}

function filtersByCode(type: string): boolean {
  return (FILTERS_BY_CODE.exec(type)?.[1] ?? '') >= FILTERS_SINCE;
}

function hasMember(tool: JsonObject, name: RegExp): boolean {
  return Object.keys(tool).some((member) => name.test(member));
}

function isEndless(tool: JsonObject, type: string, model: string): boolean {
  if (callsOtherModel(tool, type) || (PREVIEW_SEARCH.test(type) && HAS_PREVIEW_PRICE.test(model))) return true;
  if (WRITTEN_OUT.test(type))
    return Object.keys(tool).some((name) => BY_MEMBER.test(`"${name}":`) && !SEARCH.test(name) && !MAPS.test(name));
  return false;
}

function callsOtherModel(tool: JsonObject, type: string): boolean {
  if (BY_OTHER_MODEL.test(type)) return true;
  return typeof tool['model'] === 'string' && !WRITTEN_OUT.test(type) && !BY_CLIENT.test(type);
}
