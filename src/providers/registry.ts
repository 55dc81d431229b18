/** All providers, one line each; each provider's file has everything that is its own. */
import { anthropic } from './anthropic.ts';
import { bedrock } from './bedrock.ts';
import { createRegistry } from './create-registry.ts';
import { deepseek } from './deepseek.ts';
import { fireworks } from './fireworks.ts';
import { gemini } from './gemini.ts';
import { openai } from './openai.ts';
import type { Provider } from './provider.ts';
import { together } from './together.ts';

const ALL = Object.freeze({
  openai,
  anthropic,
  gemini,
  bedrock,
  fireworks,
  together,
  deepseek,
});

export type ProviderName = keyof typeof ALL;

export const PROVIDERS: Readonly<Record<ProviderName, Provider<ProviderName>>> = ALL;

export const PROVIDER_NAMES: readonly ProviderName[] = Object.values(PROVIDERS).map(({ name }) => name);

export const {
  readProviderName,
  findCredentialOwner,
  listCredentialPlaces,
  mayHoldCredential,
  findHostOwner,
  findDefaultHostOwner,
  inferProvider,
  inferByPath,
  isProbe,
  findKnownCall,
  isLoggedRequestHeader,
  isLoggedAnswerHeader,
} = createRegistry(Object.values(PROVIDERS));
