/** The providers, one line each, and the two ways to choose one: by name and by path. */
import { PROVIDER_NAMES, type ProviderName } from '../call-record.ts';
import { anthropic } from './anthropic.ts';
import { bedrock } from './bedrock.ts';
import { deepseek } from './deepseek.ts';
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

/** Whose path this is when no provider was named; null when the path does not tell (`/openai/v1/…`, `/beta/…`). */
export function inferProvider(request: RequestLine): InferredProvider | null {
  // Repairs first: `/v1/v1/messages` would otherwise be a `/v1` path of nobody in particular.
  for (const provider of IN_ORDER) {
    const repairedPath = provider.repairPath(request.path);
    if (repairedPath !== null && provider.claims({ ...request, path: repairedPath })) return { provider, repairedPath };
  }
  const provider = IN_ORDER.find((candidate) => candidate.claims(request));
  return provider === undefined ? null : { provider, repairedPath: null };
}
