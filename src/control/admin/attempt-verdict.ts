/** What to do about a refused attempt, in one or two sentences, by its code and path; the only place for such texts. */
import { PROVIDER_NAMES, PROVIDERS } from '../../providers/registry.ts';
import type { RejectedAttempt } from '../../vocabulary/channel.ts';
import { GATEWAY_ERRORS } from '../../vocabulary/errors.ts';

type Verdict = string | ((attempt: RejectedAttempt, baseUrl: string) => string);

/** The message of an absent code explains itself. */
const BY_CODE: Readonly<Record<string, Verdict>> = {
  key_missing:
    'It came without a gateway key. Add the header X-Gateway-Key; the provider’s own key stays in its usual place.',
  key_malformed:
    'What came in X-Gateway-Key is no gateway key: one begins with tgk_ and has 53 characters. Copy it again, whole and without quotes; the provider’s key does not belong there.',
  key_unknown:
    'This gateway has no such key; it may be one of another gateway. Create a key here and use that: `tollgate keys create NAME`.',
  key_revoked: 'Its key was revoked. Give this client a new one: `tollgate keys create NAME`.',
  run_token_ended:
    'Its run token has ended, with its run, its key or its time. Start the program again with `tollgate run`, or make another token.',
  key_expired: 'Its key has expired. Give this client a new one: `tollgate keys create NAME`.',
  provider_unknown: `X-Gateway-Provider has a value that is none of: ${PROVIDER_NAMES.join(', ')}.`,
  provider_required: (attempt, baseUrl) =>
    adviseOnPath(attempt.path, baseUrl) ??
    `The path ${attempt.path} does not tell which provider is meant. Add the header X-Gateway-Provider, or check the base address: ${baseUrl}/v1 for OpenAI-style clients, ${baseUrl} for Anthropic’s and Google’s.`,
};

/** Matches a path that begins with a provider's name or that of its company. */
const PROVIDER_FOLDER = new RegExp(
  `^/(?:${Object.values(PROVIDERS)
    .flatMap(({ name, catalogId }) => [name, catalogId])
    .join('|')})/`,
);

/** Mistakes visible in the path; the first match wins. */
const BY_PATH: readonly (readonly [pattern: RegExp, advice: (baseUrl: string) => string])[] = [
  [
    /^\/v1\/v1\/messages/,
    (baseUrl) =>
      `Its path begins with /v1 twice: Anthropic’s SDKs add it themselves, so set the base address to ${baseUrl}.`,
  ],
  [/^\/v1\/v1beta\//, (baseUrl) => `Google’s SDKs add /v1beta themselves: set the base address to ${baseUrl}.`],
  [/^\/v1\/v1\//, (baseUrl) => `Its path begins with /v1 twice: set the base address to ${baseUrl}/v1.`],
  [
    PROVIDER_FOLDER,
    (baseUrl) =>
      `There are no folders by provider here: set the base address to ${baseUrl}, or to ${baseUrl}/v1 for OpenAI-style clients, and send X-Gateway-Provider where the path does not tell.`,
  ],
  [
    /^\/(?:api\/v1\/|assets\/|login$|start$|runs?$|logs?$)/,
    () => 'This port is for model calls; the dashboard and its API are on the admin port (see `tollgate login`).',
  ],
  [
    /^\/(?:favicon\.ico|robots\.txt)?$/,
    () => 'A browser or a health check, not a model call. Health checks are answered at /healthz.',
  ],
];

function adviseOnPath(path: string, baseUrl: string): string | null {
  return BY_PATH.find(([pattern]) => pattern.test(path))?.[1](baseUrl) ?? null;
}

function messageOf(code: string): string {
  const known: Readonly<Record<string, { readonly message: string }>> = GATEWAY_ERRORS;
  return Object.hasOwn(known, code) ? (known[code]?.message ?? '') : '';
}

/** A wrong key comes first, then a wrong path. */
export function judgeAttempt(attempt: RejectedAttempt, baseUrl: string): string {
  const { code, path } = attempt;
  const verdict = Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined;
  if (typeof verdict === 'function') return verdict(attempt, baseUrl);
  const advice = code.startsWith('key_') ? adviseOnPath(path, baseUrl) : null;
  return [verdict ?? messageOf(code), advice].filter((text) => text !== null && text !== '').join(' ');
}
