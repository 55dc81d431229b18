import { expect, test } from 'vitest';
import { PROVIDERS } from './registry.ts';

test.each([
  ['bedrock', 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3', true],
  ['bedrock', 'arn:aws:bedrock:us-east-1:123456789012:provisioned-model/a1b2c3', true],
  ['bedrock', 'us.anthropic.claude-haiku-4-5-20251001-v1:0', false],
  ['openai', 'ft:gpt-4.1-mini-2025-04-14:acme::abc', true],
  ['openai', 'gpt-5', false],
  ['gemini', 'tunedModels/mine', true],
  ['fireworks', 'accounts/acme/models/mine', true],
  ['fireworks', 'accounts/fireworks/models/qwen3#acme/1a2b', true],
  ['fireworks', 'accounts/fireworks/models/qwen3', false],
  ['together', 'acme/sparrow-7b', false],
] as const)('at %s the id %s stands for something else: %s', (provider, model, isOpaque) => {
  expect(PROVIDERS[provider].opaqueModelId?.test(model) ?? false).toBe(isOpaque);
});
