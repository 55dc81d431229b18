/** The providers, one line each, and the two ways to choose one: by name and by path. */
import { PROVIDER_NAMES, type ProviderName } from '../call-record.ts';
import { anthropic } from './anthropic.ts';
import { bedrock } from './bedrock.ts';
import { deepseek } from './deepseek.ts';
import { UNKNOWN_ENDPOINT } from './endpoint-row.ts';
import { fireworks } from './fireworks.ts';
import { gemini } from './gemini.ts';
import { openai } from './openai.ts';
import type { Provider, RequestLine } from './provider.ts';
import { together } from './together.ts';

/** In the order in which they are asked whose path it is. `openai` is last: it takes whatever is left of `/v1`. */
export const PROVIDERS: Readonly<Record<ProviderName, Provider>> = Object.freeze({
  anthropic,
  gemini,
  bedrock,
  fireworks,
  together,
  deepseek,
  openai,
});

const IN_ORDER: readonly Provider[] = Object.values(PROVIDERS);

/** The value of X-Gateway-Provider, trimmed and in any case; null when it is none of the seven. */
export function readProviderName(text: string): ProviderName | null {
  const name = text.trim().toLowerCase();
  return PROVIDER_NAMES.find((known) => known === name) ?? null;
}

export interface InferredProvider {
  readonly provider: Provider;
  /** The path that was meant, when the one sent has a common wrong base; null when it was right. */
  readonly repairedPath: string | null;
}

/** Whose credential this text is, by its form; null where several of the seven give out such ones. */
export function findCredentialOwner(text: string): ProviderName | null {
  return IN_ORDER.find(({ credentialForm }) => credentialForm.test(text))?.name ?? null;
}

/** All forms at once, at the beginning of any word. */
const ANY_FORM = new RegExp(
  String.raw`\b(?:${IN_ORDER.map(({ credentialForm: { source } }) => source.replace('^', '').replaceAll('$', String.raw`(?!\w)`)).join('|')})`,
);

const EACH_FORM = new RegExp(ANY_FORM.source, 'g');
const NOWHERE: readonly number[] = Object.freeze([]);

/** Where words begin that may have the form of a credential; `findCredentialOwner` tells. */
export function listCredentialPlaces(text: string): readonly number[] {
  let places: number[] | null = null;
  EACH_FORM.lastIndex = 0;
  for (let match = EACH_FORM.exec(text); match !== null; match = EACH_FORM.exec(text)) {
    places ??= [];
    places.push(match.index);
  }
  return places ?? NOWHERE;
}

/** False where no part of the text has the form of a credential, which is quickly asked. */
export function mayHoldCredential(text: string): boolean {
  return ANY_FORM.test(text);
}

/** Whose host this is; null for any but the seven's own. */
export function findHostOwner(host: string): ProviderName | null {
  return IN_ORDER.find((provider) => provider.ownsHost(host))?.name ?? null;
}

/**
 * Whose call this is when no provider was named: by its credential (`owner`, where its form tells), by what only one
 * provider's clients send, by a path that is one provider's alone, by an SDK's name. What is left of `/v1` is OpenAI's.
 * Null when nothing tells (`/openai/v1/…`, `/beta/…`).
 */
export function inferProvider(request: RequestLine, owner: ProviderName | null): InferredProvider | null {
  const provider = owner === null ? IN_ORDER.find((candidate) => candidate.isOwnClient(request)) : PROVIDERS[owner];
  return provider === undefined ? inferByPath(request) : meant(provider, request);
}

function meant(provider: Provider, { path }: RequestLine): InferredProvider {
  return { provider, repairedPath: provider.repairPath(path) };
}

export function inferByPath(request: RequestLine): InferredProvider | null {
  const byPath = findClaim(request);
  if (byPath !== null && byPath.provider !== openai) return byPath;
  const userAgent = request.header('user-agent') ?? '';
  const bySdk = IN_ORDER.find(({ isOwnSdk }) => isOwnSdk?.(userAgent, request.path));
  if (bySdk !== undefined) return meant(bySdk, request);
  const isOpenai = byPath !== null && !isForeign({ ...request, path: byPath.repairedPath ?? request.path });
  return isOpenai ? byPath : null;
}

function findClaim(request: RequestLine): InferredProvider | null {
  // Repairs first: `/v1/v1/messages` would otherwise be a `/v1` path of nobody in particular.
  for (const provider of IN_ORDER) {
    const repairedPath = provider.repairPath(request.path);
    if (repairedPath !== null && provider.claims({ ...request, path: repairedPath })) return { provider, repairedPath };
  }
  const provider = IN_ORDER.find((candidate) => candidate.claims(request));
  return provider === undefined ? null : { provider, repairedPath: null };
}

/**
 * What is left of `/v1` is not OpenAI's where its key stands in a header that OpenAI does not read, or others know the
 * path and it does not.
 */
function isForeign(request: RequestLine): boolean {
  if (request.header('authorization') === undefined && request.header('x-api-key') !== undefined) return true;
  return !isKnown(openai, request) && IN_ORDER.some((provider) => provider !== openai && isKnown(provider, request));
}

function isKnown(provider: Provider, request: RequestLine): boolean {
  return provider.endpoint({ ...request, path: provider.mapPath(request.path) }).family !== UNKNOWN_ENDPOINT.family;
}
