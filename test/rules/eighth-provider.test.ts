/** One more provider is one object and one folder of fixtures: everything that the registry tells knows it then. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRegistry } from '../../src/providers/create-registry.ts';
import { PROVIDERS } from '../../src/providers/registry.ts';
import { describeContract } from '../support/describe-contract.ts';
import { eighth } from '../support/eighth-provider/eighth.ts';
import { listFixturesOf } from '../support/fixtures.ts';
import { findEndpointOf, readAnswer } from '../support/read-fixture.ts';

const FIXTURES = listFixturesOf('eighth', join(import.meta.dirname, '../support/eighth-provider/fixtures'));
const PROVIDERS_WITH_IT = [...Object.values(PROVIDERS), eighth];

describeContract<string>(PROVIDERS_WITH_IT, FIXTURES);

describe('an eighth provider', () => {
  const registry = createRegistry<string>(PROVIDERS_WITH_IT);
  const request = { method: 'POST', query: '', header: () => undefined };

  it('is named, owns its host and its credentials', () => {
    expect(registry.readProviderName(' Eighth ')).toBe('eighth');
    expect(registry.findHostOwner('api.eighth.example')).toBe('eighth');
    expect(registry.findCredentialOwner('e8-abc')).toBe('eighth');
    expect(registry.listCredentialPlaces('key e8-abc')).toEqual([4]);
  });

  it('is found by its paths, and takes none of the others', () => {
    const found = (path: string) => registry.inferProvider({ ...request, path }, null)?.provider.name;
    expect(found('/eighth/v1/chat/completions')).toBe('eighth');
    expect(found('/v1/chat/completions')).toBe('openai');
    expect(found('/v1/messages')).toBe('anthropic');
  });

  it('has its own headers logged', () => {
    expect(registry.isLoggedRequestHeader('eighth-beta')).toBe(true);
    expect(registry.isLoggedAnswerHeader('eighth-region')).toBe(true);
    expect(registry.isLoggedAnswerHeader('eighth-quota-left')).toBe(true);
    expect(registry.isLoggedAnswerHeader('eighth-key')).toBe(false);
  });

  it.each(FIXTURES)('is metered: $name', async (fixture) => {
    const { usage, model } = await readAnswer(findEndpointOf(eighth, fixture), fixture, [fixture.body]);
    const { classes, model: expectedModel } = fixture.expected.reported;
    expect([usage?.classes, model]).toEqual([classes, expectedModel]);
  });
});
