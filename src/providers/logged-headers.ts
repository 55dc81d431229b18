/** Lower-case headers, free of credentials, that the log keeps for all providers; others are dropped. */
import type { Provider } from './provider.ts';

const OF_REQUESTS: readonly string[] = [
  'accept',
  'accept-encoding',
  'content-encoding',
  'content-length',
  'content-type',
  'user-agent',
  'x-request-id',
  'x-stainless-lang',
  'x-stainless-package-version',
  'x-stainless-retry-count',
];

const OF_ANSWERS: readonly string[] = [
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'server-timing',
  'x-request-id',
];

export function createLoggedHeaders(providers: readonly Provider[]) {
  const own = providers.map(({ loggedHeaders = {} }) => loggedHeaders);
  const request = new Set([...OF_REQUESTS, ...own.flatMap((headers) => headers.request ?? [])]);
  const answer = new Set([...OF_ANSWERS, ...own.flatMap((headers) => headers.answer ?? [])]);
  const prefixes = ['x-ratelimit-', ...own.flatMap(({ answerPrefixes = [] }) => answerPrefixes)];
  return {
    isLoggedRequestHeader: (name: string): boolean => request.has(name),
    isLoggedAnswerHeader: (name: string): boolean =>
      answer.has(name) || prefixes.some((prefix) => name.startsWith(prefix)),
  };
}
