/**
 * Every fixture once straight to the provider and once through the gateway: what differs must be in
 * docs/transparency.md, which is read here as the list of what may.
 */
import { describe, expect, test } from 'vitest';
import { PROVIDER_NAMES } from '../../src/vocabulary/call-record.ts';
import { type Fixture, listFixtures, requestBody } from '../support/fixtures.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { isDocumented, readDocument, readDocumentedEdits } from './documented-edits.ts';
import { type Edit, listEdits, type Seen } from './list-edits.ts';
import { openProxy } from './open-proxy.ts';

const FIXTURES = listFixtures();
const DOCUMENTED = readDocumentedEdits(readDocument());

const { provider, proxy } = await openProxy();

/** Beside the fixture's own: what clients send of which a proxy may be tempted to change something. */
const CLIENT_HEADERS = [
  'User-Agent: OpenAI/JS 6.1.0',
  'Accept: application/json',
  'Accept-Encoding: gzip, deflate',
  'X-Stainless-Retry-Count: 0',
  'x-stainless-Lang: js',
  'anthropic-beta: a,b',
  'Anthropic-Beta: c',
  'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
];

function requestBytes(fixture: Fixture, port: number, extra: readonly string[]): Buffer {
  const { request } = fixture;
  const body = requestBody(fixture);
  const isGatewayHeader = (name: string): boolean => /^x-gateway-/i.test(name);
  const own = Object.entries(request.headers).filter(([name]) => !isGatewayHeader(name));
  const lines = [
    `${request.method} ${request.path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    ...own.map(([name, value]) => `${name}: ${value}`),
    ...CLIENT_HEADERS,
    ...(body.length === 0 ? [] : [`Content-Length: ${body.length}`]),
    ...extra,
    '',
    '',
  ];
  return Buffer.concat([Buffer.from(lines.join('\r\n')), body]);
}

async function see(fixture: Fixture, port: number, extra: readonly string[]): Promise<Seen> {
  const index = provider.requests.length;
  const answer = await readRawAnswer('127.0.0.1', port, requestBytes(fixture, port, extra));
  return { answer, request: await provider.waitForRequest(index) };
}

async function compare(fixture: Fixture): Promise<Edit[]> {
  const isFraming = (name: string): boolean => /^(content-length|transfer-encoding)$/i.test(name);
  const headers = Object.entries(fixture.headers).filter(([name]) => !isFraming(name));
  const isStream = !/json/.test(fixture.headers['content-type'] ?? '');
  provider.setAnswer(() =>
    buildAnswer({
      status: fixture.status,
      headers,
      framing: isStream ? 'chunked' : 'length',
      body: fixture.body,
      cuts: [fixture.body.length >> 1],
    }),
  );
  const direct = await see(fixture, provider.port, []);
  const through = await see(fixture, proxy.port, [
    `X-Gateway-Key: ${proxy.key}`,
    `X-Gateway-Provider: ${fixture.provider}`,
    'X-Gateway-Trace-Id: t',
    'X-Gateway-Feature: f',
  ]);
  return listEdits(direct, through);
}

describe('between a direct call and one through the gateway nothing differs but what the document says', () => {
  test.each(PROVIDER_NAMES)('in all fixtures of %s', async (name) => {
    const unexplained: Record<string, Edit[]> = {};
    for (const fixture of FIXTURES.filter((candidate) => candidate.provider === name)) {
      const edits = (await compare(fixture)).filter((edit) => !isDocumented(edit, DOCUMENTED, name));
      if (edits.length > 0) unexplained[fixture.name] = edits;
    }
    expect(unexplained).toEqual({});
  });
});

function find(providerName: string, matches: (fixture: Fixture) => boolean): Fixture {
  const found = FIXTURES.find((fixture) => fixture.provider === providerName && matches(fixture));
  if (found === undefined) throw new Error(`no such fixture of ${providerName}`);
  return found;
}

test('what the document no longer says is found out', async () => {
  const document = readDocument();
  const explainedBy = (text: string, edits: readonly Edit[], name: string): number =>
    edits.filter((edit) => isDocumented(edit, readDocumentedEdits(text), name)).length;

  const asked = await compare(find('openai', ({ name }) => name === 'chat-stream-usage-not-asked'));
  const mapped = await compare(find('fireworks', ({ request }) => request.path === '/v1/chat/completions'));
  expect(asked.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['request-body', 'request-header']));
  expect(mapped).toContainEqual({
    kind: 'path',
    before: '/v1/chat/completions',
    after: '/inference/v1/chat/completions',
  });
  expect(explainedBy(document, asked, 'openai')).toBe(asked.length);
  expect(explainedBy(document, mapped, 'fireworks')).toBe(mapped.length);

  const without = (pattern: RegExp): string => document.replace(pattern, '');
  expect(explainedBy(without(/^\| The answer gains.*$/m), asked, 'openai')).toBe(asked.length - 1);
  expect(explainedBy(without(/`accept-encoding: identity` is sent/), asked, 'openai')).toBe(asked.length - 1);
  expect(explainedBy(without(/unless the request says `stream_options.include_usage`/), asked, 'openai')).toBe(
    asked.length - 1,
  );
  expect(explainedBy(without(/^\| `fireworks`.*$/m), mapped, 'fireworks')).toBe(mapped.length - 1);
  expect(explainedBy(document, mapped, 'together')).toBe(mapped.length - 1);
});
