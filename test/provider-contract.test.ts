/**
 * What every provider owes: fixtures, and an endpoint for each of them that is the one expected. How usage is read from
 * the answers is tested over the same fixtures in `fixture-usage.test.ts`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PROVIDER_NAMES } from '../src/call-record.ts';
import type { RequestLine } from '../src/providers/provider.ts';
import { inferProvider, PROVIDERS, readProviderName } from '../src/providers/registry.ts';
import { type Fixture, listFixtures } from './fixtures.ts';

const FIXTURES = listFixtures();
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The request line of a fixture with the path that goes upstream. */
function upstreamLine({ provider, request }: Fixture): RequestLine {
  const [path = '', query = ''] = request.path.split('?');
  return {
    method: request.method,
    path: PROVIDERS[provider].mapPath(path),
    query,
    header: (name) => request.headers[name],
  };
}

describe('a provider', () => {
  it.each(PROVIDER_NAMES)('has fixtures of a JSON answer and of a stream: %s', (name) => {
    const own = FIXTURES.filter(({ provider }) => provider === name);
    expect(own.some(({ headers }) => headers['content-type']?.startsWith('application/json'))).toBe(true);
    expect(own.some(({ headers }) => /event-?stream/.test(headers['content-type'] ?? ''))).toBe(true);
  });

  it.each(PROVIDER_NAMES)('is one file that knows no other provider: %s', (name) => {
    const source = readFileSync(`${ROOT}src/providers/${name}.ts`, 'utf8');
    const others = PROVIDER_NAMES.filter((other) => other !== name);
    expect(others.filter((other) => source.includes(`'./${other}.ts'`))).toEqual([]);
  });

  it('is named in the registry and nowhere else among the providers', () => {
    const shared = readdirSync(`${ROOT}src/providers`).filter(
      (file) =>
        !file.endsWith('.test.ts') && file !== 'registry.ts' && !PROVIDER_NAMES.some((name) => file === `${name}.ts`),
    );
    for (const file of shared) {
      const source = readFileSync(`${ROOT}src/providers/${file}`, 'utf8');
      expect(PROVIDER_NAMES.filter((name) => source.includes(`'${name}'`) || source.includes(`/${name}.ts`))).toEqual(
        [],
      );
    }
  });
});

describe('every fixture', () => {
  it.each(FIXTURES)('of $provider is the endpoint expected: $name', (fixture) => {
    const endpoint = PROVIDERS[fixture.provider].endpoint(upstreamLine(fixture));
    const { family, shape, billed, streamed, fetchesResult = false } = endpoint;
    expect({ family, shape, billed, streamed, fetchesResult }).toEqual(fixture.expected.endpoint);
  });

  it.each(FIXTURES)('of $provider names its model where the endpoint says: $name', (fixture) => {
    const { model } = PROVIDERS[fixture.provider].endpoint(upstreamLine(fixture));
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
        expect(fixture.expected.endpoint.fetchesResult || fixture.expected.endpoint.shape !== 'chat-completions').toBe(
          true,
        );
    }
  });

  it.each(FIXTURES)('of $provider is routed to it, by its path or by the header: $name', (fixture) => {
    const named = fixture.request.headers['x-gateway-provider'];
    const [path = '', query = ''] = fixture.request.path.split('?');
    const header = (name: string) => fixture.request.headers[name];
    const inferred = inferProvider({ method: fixture.request.method, path, query, header }, null);
    const provider = named === undefined ? inferred?.provider.name : readProviderName(named);
    // The compatible routes of Bedrock look like others' and need the header, which the test of inference shows.
    expect(provider ?? 'bedrock').toBe(fixture.provider);
  });

  it.each(FIXTURES)('of $provider is free of secrets: $name', ({ request, headers, body }) => {
    const text = JSON.stringify([request, headers]) + body.toString('latin1');
    expect(text).not.toMatch(/\b(?:sk-[A-Za-z0-9]|AKIA[A-Z0-9]|AIza[A-Za-z0-9]|tgk_[A-Za-z0-9])/);
  });
});

describe('the stream whose usage was asked for', () => {
  it('is its twin without usage plus `"usage":null` and one chunk, and nothing else', () => {
    const text = (name: string) =>
      FIXTURES.find((fixture) => fixture.provider === 'openai' && fixture.name === name)?.body.toString('utf8') ?? '';
    const hidden = text('chat-stream-usage-asked')
      .split('\n\n')
      .filter((event) => !event.includes('"choices":[]'))
      .join('\n\n')
      .replaceAll(',"usage":null', '');
    expect(hidden).toBe(text('chat-stream-usage-not-asked'));
  });
});
