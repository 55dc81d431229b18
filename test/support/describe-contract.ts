/**
 * What every provider owes: fixtures, an endpoint for each of them that is the one expected, and the way to it. Any list
 * of providers can be held to it, with the fixtures of some or all of them.
 */
import { describe, expect, it } from 'vitest';
import { createRegistry } from '../../src/providers/create-registry.ts';
import type { Provider } from '../../src/providers/provider.ts';
import type { Fixture } from './fixtures.ts';
import { findEndpointOf } from './read-fixture.ts';

export function describeContract<Name extends string>(
  providers: readonly Provider<Name>[],
  fixtures: readonly Fixture<Name>[],
): void {
  const { inferProvider, readProviderName } = createRegistry(providers);
  const endpointOf = (fixture: Fixture<Name>) => {
    const provider = providers.find(({ name }) => name === fixture.provider);
    return provider === undefined ? expect.fail(`no provider ${fixture.provider}`) : findEndpointOf(provider, fixture);
  };

  describe('a provider', () => {
    it.each([...new Set(fixtures.map(({ provider }) => provider))])(
      'has fixtures of a JSON answer and of a stream: %s',
      (name) => {
        const own = fixtures.filter(({ provider }) => provider === name);
        expect(own.some(({ headers }) => headers['content-type']?.startsWith('application/json'))).toBe(true);
        expect(own.some(({ headers }) => /event-?stream/.test(headers['content-type'] ?? ''))).toBe(true);
      },
    );
  });

  describe('every fixture', () => {
    it.each(fixtures)('of $provider is the endpoint expected: $name', (fixture) => {
      const endpoint = endpointOf(fixture);
      const { family, format, billed, streamed, fetchesResult = false } = endpoint;
      expect({ family, format, billed, streamed, fetchesResult }).toEqual(fixture.expected.endpoint);
    });

    it.each(fixtures)('of $provider names its model where the endpoint says: $name', (fixture) => {
      const { model } = endpointOf(fixture);
      const { body, bodyText, path } = fixture.request;
      switch (model.in) {
        case 'body':
          if (bodyText === undefined) expect(body).toHaveProperty('model', expect.any(String));
          else expect(bodyText).toContain('model');
          break;
        case 'path':
          expect(decodeURIComponent(path)).toContain(model.name);
          break;
        case 'nowhere':
          // What is fetched or asked for later names its model, if at all, in its answer.
          expect(
            fixture.expected.endpoint.fetchesResult || fixture.expected.endpoint.format !== 'chat-completions',
          ).toBe(true);
      }
    });

    it.each(fixtures)('of $provider is routed to it, by its path or by the header: $name', (fixture) => {
      const named = fixture.request.headers['x-gateway-provider'];
      const [path = '', query = ''] = fixture.request.path.split('?');
      const header = (name: string) => fixture.request.headers[name];
      const inferred = inferProvider({ method: fixture.request.method, path, query, header }, null);
      const provider = named === undefined ? inferred?.provider.name : readProviderName(named);
      // The compatible routes of Bedrock look like others' and need the header, which the test of inference shows.
      expect(provider ?? 'bedrock').toBe(fixture.provider);
    });

    it.each(fixtures)('of $provider is free of secrets: $name', ({ request, headers, body }) => {
      const text = JSON.stringify([request, headers]) + body.toString('latin1');
      expect(text).not.toMatch(/\b(?:sk-[A-Za-z0-9]|AKIA[A-Z0-9]|AIza[A-Za-z0-9]|tgk_[A-Za-z0-9])/);
    });
  });
}
