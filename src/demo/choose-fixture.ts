/** Chooses the fixture that answers a request. Fixtures' own requests are read by the same functions. */
import { PROVIDERS, type ProviderName } from '../providers/registry.ts';
import type { Fixture } from './fixture-store.ts';
import { isObject, type JsonObject } from './json-object.ts';

export interface DemoRequest {
  readonly provider: ProviderName;
  readonly method: string;
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
  [/^\/model\/[^/]+\/invoke$/, 'invoke'],
  [/^\/model\/[^/]+\/invoke-with-response-stream$/, 'invoke-stream'],
];

/** Fixtures of faults serve tests and never answer in the demo. */
const FAULTS = /error|beta|failed|incomplete|exception|cut|refusal|background|keep-alive|odd/;

export function kindOf(method: string, pathAndQuery: string): string | null {
  const [path = '', query = ''] = pathAndQuery.split('?');
  if (method !== 'POST') return null;
  const kind = KINDS.find(([pattern]) => pattern.test(path))?.[1] ?? null;
  return kind === 'stream-generate' && /(^|&)alt=sse(&|$)/.test(query) ? 'stream-generate-sse' : kind;
}

export function readModel({ path, body }: Pick<DemoRequest, 'path' | 'body'>): string | null {
  if (typeof body['model'] === 'string') return body['model'];
  const inPath = /\/models?\/([^/:?]+)/.exec(path)?.[1];
  return inPath === undefined ? null : inPath.replaceAll('%3A', ':');
}

function modelOf({ path, requestBody }: Fixture): string | null {
  return readModel({ path, body: requestBody });
}

/** The word with which a provider's own models begin (`gpt-…`); null for ids of another form. */
function familyOf(model: string): string | null {
  return /^([a-z]{3,})-[\w-.]+$/.exec(model)?.[1] ?? null;
}

/** Kinds for which the first word of a model says whose it is. */
const TEXT_KINDS: ReadonlySet<string> = new Set(['chat', 'responses', 'messages', 'generate', 'stream-generate']);

/** Whether a model is known to be another provider's, and none of `provider`. What is not known passes. */
export function isOfAnother(fixtures: readonly Fixture[], provider: ProviderName, model: string): boolean {
  const family = familyOf(model);
  const owners = fixtures.filter(
    (fixture) =>
      TEXT_KINDS.has(kindOf(fixture.method, fixture.path) ?? '') && familyOf(modelOf(fixture) ?? '') === family,
  );
  return family !== null && owners.length > 0 && owners.every((fixture) => fixture.provider !== provider);
}

/** True when the last turn has a tool's result: another tool call would keep an agent going for ever. */
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

/** An OpenAI stream is kept with usage; `shape-answer.ts` derives the form without. */
function isDerivable(fixture: Fixture): boolean {
  const { provider, kind, requestBody, path } = fixture;
  const { endpoint, asksForUsage: lacksUsageUnasked } = PROVIDERS[provider];
  const line = { method: 'POST', path, query: '', header: () => undefined };
  const isChatStream = kind === 'sse' && kindOf('POST', path) === 'chat';
  return isChatStream && lacksUsageUnasked(endpoint(line)) && !asksForUsage(requestBody);
}

/** Bodies of `invoke` have the form of the model's maker: its name, and the word with which the model's begins. */
function makerOf(model: string | null): string | null {
  return /(?:^|[./])([a-z]+\.[a-z]+)(?=[\d-]|$)/.exec(model ?? '')?.[1] ?? null;
}

function sharedMembers(first: JsonObject, second: JsonObject): number {
  return Object.keys(first).filter((name) => Object.hasOwn(second, name)).length;
}

/** Null when no fixture is of that kind. */
export function chooseFixture(fixtures: readonly Fixture[], request: DemoRequest): Fixture | null {
  const kind = kindOf(request.method, request.path);
  if (kind === null) return null;
  const isStreamed = request.body['stream'] === true;
  const wanted = wantedFeatures(request.body);
  const model = readModel(request);
  const hasMakersForm = kind.startsWith('invoke');
  const maker = hasMakersForm ? makerOf(model) : null;
  const mismatches = (fixture: Fixture) => {
    const has = featuresOf(fixture);
    return wanted.filter((x) => !has.includes(x)).length + has.filter((x) => !wanted.includes(x)).length;
  };
  const isOfMaker = (fixture: Fixture) => maker === null || makerOf(modelOf(fixture)) === maker;
  // By weight: provider, features, model, form of the request, longest stream, simplest case.
  const rank = (fixture: Fixture) => [
    fixture.provider === request.provider ? 0 : 1,
    mismatches(fixture),
    modelOf(fixture) === model ? 0 : 1,
    hasMakersForm ? -sharedMembers(fixture.requestBody, request.body) : 0,
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
    .filter((fixture) => (fixture.requestBody['stream'] === true) === isStreamed && isOfMaker(fixture))
    .reduce<Fixture | null>((best, next) => (best === null || isBetter(rank(next), rank(best)) ? next : best), null);
}
