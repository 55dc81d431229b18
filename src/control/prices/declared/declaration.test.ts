import { expect, test } from 'vitest';
import { describeDeclaration } from './declaration.ts';

test('a declaration is one line for people, with its times as short as they can be', () => {
  expect(
    describeDeclaration({
      kind: 'override',
      provider: 'openai',
      provider_alias: 'eu',
      valid_from: '2026-12-01T00:00:00.000Z',
      valid_to: '2026-12-24T18:30:00.000Z',
      note: null,
      match: 'prefix',
      model: 'ft:',
      service_tier: 'batch',
      over_tokens: null,
      up_to_tokens: 200_000,
      rates: { input: '0.6', output: '1.2' },
    }),
  ).toBe(
    'openai ft:*: input $0.6, output $1.2, tier batch, prompts up to 200000 tokens, under the alias eu, from 2026-12-01, until 2026-12-24 18:30',
  );
  expect(
    describeDeclaration({
      kind: 'multiplier',
      provider: 'bedrock',
      provider_alias: null,
      valid_from: '2026-01-01T00:00:05.250Z',
      valid_to: null,
      note: null,
      factor: '0.85',
    }),
  ).toBe('bedrock: list prices × 0.85, from 2026-01-01 00:00:05.250');
});
