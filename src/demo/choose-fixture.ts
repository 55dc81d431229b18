/**
 * Which fixture answers a request: by the kind of its path, whether a stream is asked, and what the body asks for. The
 * same functions read the fixtures' own requests, so that a new fixture is found without a line here.
 */
import type { ProviderName } from '../call-record.ts';
import type { Fixture } from './fixture-store.ts';
import { isObject, type JsonObject } from './json-object.ts';

export interface DemoRequest {
  readonly provider: ProviderName;
  readonly method: string;
  /** Without the provider's prefix, with the query. */
  readonly path: string;
  readonly body: JsonObject;
}

type Feature = 'tool' | 'cache' | 'thinking';

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/\/chat\/completions$/, 'chat'],
  [/\/completions$/, 'completions'],
  [/\/responses$/, 'responses'],
  [/\/embeddings$/, 'embeddings'],
  [/\/messages$/, 'messages'],
  [/\/messages\/count_tokens$/, 'count-tokens'],
  [/:generateContent$/, 'generate'],
  [/:streamGenerateContent$/, 'stream-generate'],
  [/:countTokens$/, 'count-tokens'],
  [/^\/model\/[^/]+\/converse$/, 'converse'],
  [/^\/model\/[^/]+\/converse-stream$/, 'converse-stream'],
];

/** Fixtures that show what goes wrong: good for tests, never an answer to somebody who tries the gateway out. */
const FAULTS = /error|beta|failed|incomplete|exception|cut|refusal|background|keep-alive|odd/;

function kindOf(method: string, pathAndQuery: string): string | null {
  const [path = '', query = ''] = pathAndQuery.split('?');
  if (method !== 'POST') return null;
  const kind = KINDS.find(([pattern]) => pattern.test(path))?.[1] ?? null;
  return kind === 'stream-generate' && /(^|&)alt=sse(&|$)/.test(query) ? 'stream-generate-sse' : kind;
}

/** The model that a request names, in its body or in its path. */
export function readModel({ path, body }: Pick<DemoRequest, 'path' | 'body'>): string | null {
  if (typeof body['model'] === 'string') return body['model'];
  const inPath = /\/models?\/([^/:?]+)/.exec(path)?.[1];
  return inPath === undefined ? null : inPath.replaceAll('%3A', ':');
}

/** True when the last turn carries the result of a tool: calling the tool again would keep an agent going for ever. */
function endsWithToolResult(body: JsonObject): boolean {
  const turns = [body['messages'], body['contents'], body['input']].find(Array.isArray) ?? [];
  const last = JSON.stringify(turns.at(-1) ?? null);
  return /"role":"tool"|"tool_result"|"functionResponse"|"toolResult"|"function_call_output"/.test(last);
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isObject(value);
}

function wantedFeatures(body: JsonObject): readonly Feature[] {
  const asksTool = (isFilled(body['tools']) || isFilled(body['toolConfig'])) && !endsWithToolResult(body);
  return [
    ...(asksTool ? (['tool'] as const) : []),
    ...(JSON.stringify(body).includes('"cache_control"') ? (['cache'] as const) : []),
    ...(isFilled(body['thinking']) ? (['thinking'] as const) : []),
  ];
}

function featuresOf(fixture: Fixture): readonly Feature[] {
  const all: readonly Feature[] = ['tool', 'cache', 'thinking'];
  return all.filter((feature) => fixture.name.includes(feature));
}

export function asksForUsage(body: JsonObject): boolean {
  return isObject(body['stream_options']) && body['stream_options']['include_usage'] === true;
}

/** A stream of OpenAI's is kept once, with usage; the form without is derived from it (`shape-answer.ts`). */
function isDerivable(fixture: Fixture): boolean {
  const { provider, kind, requestBody, path } = fixture;
  const isChatStream = provider === 'openai' && kind === 'sse' && kindOf('POST', path) === 'chat';
  return isChatStream && !asksForUsage(requestBody);
}

/** The best answer, or null when nothing here has that kind. */
export function chooseFixture(fixtures: readonly Fixture[], request: DemoRequest): Fixture | null {
  const kind = kindOf(request.method, request.path);
  if (kind === null) return null;
  const isStreamed = request.body['stream'] === true;
  const wanted = wantedFeatures(request.body);
  const model = readModel(request);
  const mismatches = (fixture: Fixture) => {
    const has = featuresOf(fixture);
    return wanted.filter((x) => !has.includes(x)).length + has.filter((x) => !wanted.includes(x)).length;
  };
  // In order of weight: the provider's own, what was asked for, its model, the longest stream, the plainest.
  const rank = (fixture: Fixture) => [
    fixture.provider === request.provider ? 0 : 1,
    mismatches(fixture),
    readModel({ path: fixture.path, body: fixture.requestBody }) === model ? 0 : 1,
    isStreamed ? -fixture.body.length : 0,
    fixture.name.length,
  ];
  const isBetter = (a: readonly number[], b: readonly number[]) => {
    const place = a.findIndex((value, index) => value !== b[index]);
    return place >= 0 && (a[place] ?? 0) < (b[place] ?? 0);
  };
  return fixtures
    .filter((fixture) => fixture.status === 200 && !FAULTS.test(fixture.name) && !isDerivable(fixture))
    .filter((fixture) => kindOf(fixture.method, fixture.path) === kind)
    .filter((fixture) => (fixture.requestBody['stream'] === true) === isStreamed)
    .reduce<Fixture | null>((best, next) => (best === null || isBetter(rank(next), rank(best)) ? next : best), null);
}
