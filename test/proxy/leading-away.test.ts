/** What an answer tells its client to do next may lead around the gateway: refused, remarked, or led back. */
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { type AnswerOptions, buildAnswer } from '../support/scripted-answer.ts';
import { type InProcessProxy, type RecordedCall, startProxy } from './start-proxy.ts';

let provider: ScriptedProvider;
let stranger: ScriptedProvider;
let proxy: InProcessProxy;

beforeAll(async () => {
  provider = await startScriptedProvider();
  stranger = await startScriptedProvider();
  const upstream = { origin: provider.origin, region: null };
  proxy = await startProxy(
    provider.origin,
    {},
    {
      aliases: { openai: { trusting: upstream, back: upstream }, anthropic: { back: upstream } },
      leading: {
        openai: {
          trusting: { redirects: 'pass', addresses: 'keep' },
          back: { redirects: 'refuse', addresses: 'rewrite' },
        },
        anthropic: { back: { redirects: 'refuse', addresses: 'rewrite' } },
      },
    },
  );
});
afterAll(async () => {
  await proxy.close();
  await provider.close();
  await stranger.close();
});
beforeEach(() => provider.setAnswer(() => buildAnswer({ body: '{}' })));

interface Outcome {
  readonly response: Response;
  readonly text: string;
  readonly call: RecordedCall;
}

async function ask(
  answer: AnswerOptions,
  headers: Record<string, string> = {},
  path = '/v1/responses',
): Promise<Outcome> {
  provider.setAnswer(() => buildAnswer(answer));
  const response = await fetch(proxy.base + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'x-gateway-key': proxy.key, authorization: 'Bearer k', ...headers },
    body: '{"model":"m"}',
  });
  const text = await response.text();
  return { response, text, call: await proxy.waitForCall(response.headers.get('x-gateway-request-id') ?? '') };
}

test.each([307, 308])(
  'a %i to another host is refused, with the target in the error and on the record',
  async (status) => {
    for (const location of [
      'https://stranger.example/v1/x?signature=s',
      '//stranger.example/v1/x',
      `${stranger.origin}/v1/x`,
    ]) {
      const { response, text, call } = await ask({
        status,
        headers: [['Location', location]],
        body: 'x'.repeat(100_000),
      });
      const target = location.startsWith('http://') ? `${stranger.origin}/v1/x` : 'stranger.example/v1/x';
      expect([response.status, response.headers.get('x-gateway-error')]).toEqual([502, 'upstream_redirect']);
      expect(response.headers.get('location')).toBeNull();
      expect(JSON.parse(text).error.message).toContain(target);
      expect(text).not.toContain('signature=s');
      expect(call.end).toMatchObject({ status: 502, outcome: 'upstream_error', errorType: 'upstream_redirect' });
      expect(call.end.errorMessage).toContain(target);
    }
    expect(stranger.requests).toEqual([]);
  },
);

test('of several addresses none may lead to another host, and neither may one that only some clients can read', async () => {
  const both: [string, string][] = [
    ['Location', '/v1/elsewhere'],
    ['location', `${stranger.origin}/v1/x`],
  ];
  const second = await ask({ status: 307, headers: both, body: '' });
  const unreadable = await ask({
    status: 308,
    headers: [['Location', 'https://stranger.example:99999/v1/x']],
    body: '',
  });
  const moved = await ask({ status: 302, headers: [['Location', '//stranger example/v1/x']], body: '' });
  expect([second, unreadable].map(({ response }) => response.headers.get('x-gateway-error'))).toEqual([
    'upstream_redirect',
    'upstream_redirect',
  ]);
  expect(JSON.parse(unreadable.text).error.message).toContain('to an address that cannot be read');
  expect(moved.call.end.flags).toEqual(['leads_away']);
});

test('one that stays at the provider passes; an absolute one is remarked, since it leads around the gateway', async () => {
  const relative = await ask({ status: 307, headers: [['Location', '/v1/elsewhere']], body: '' });
  expect([relative.response.status, relative.response.headers.get('location')]).toEqual([307, '/v1/elsewhere']);
  expect(relative.call.end.flags).toEqual([]);
  const absolute = await ask({ status: 308, headers: [['Location', `${provider.origin}/v1/elsewhere`]], body: '' });
  expect([absolute.response.status, absolute.response.headers.get('location')]).toEqual([
    308,
    `${provider.origin}/v1/elsewhere`,
  ]);
  expect(absolute.call.end.flags).toEqual(['leads_away']);
});

test.each([301, 302, 303])(
  'a %i to another host, as downloads have, passes unchanged and is remarked',
  async (status) => {
    const { response, call } = await ask({
      status,
      headers: [['Location', 'https://files.example/f?sig=1']],
      body: '',
    });
    expect([response.status, response.headers.get('location')]).toEqual([status, 'https://files.example/f?sig=1']);
    expect([call.end.outcome, call.end.flags]).toEqual(['ok', ['leads_away']]);
  },
);

test('an alias whose redirects the operator allows passes them on, remarked', async () => {
  const { response, call } = await ask(
    { status: 307, headers: [['Location', 'https://stranger.example/v1/x']], body: '' },
    { 'x-gateway-provider': 'openai', 'x-gateway-provider-alias': 'trusting' },
  );
  expect([response.status, response.headers.get('location')]).toEqual([307, 'https://stranger.example/v1/x']);
  expect(call.end.flags).toEqual(['leads_away']);
});

test.each(['X-Goog-Upload-URL', 'Operation-Location', 'Location'])(
  'an absolute address in %s of an answer is remarked, and reaches the client as it is',
  async (name) => {
    const address = `${provider.origin}/upload/v1beta/files?upload_id=1`;
    const { response, call } = await ask({ headers: [[name, address]], body: '{}' });
    expect(response.headers.get(name)).toBe(address);
    expect(call.end.flags).toEqual(['leads_away']);
  },
);

const BATCH = {
  id: 'msgbatch_1',
  type: 'message_batch',
  processing_status: 'ended',
  created_at: '2026-11-29T00:00:00Z',
  request_counts: { processing: 0, succeeded: 1, errored: 0, canceled: 0, expired: 0 },
};
const RESULT = `${JSON.stringify({
  custom_id: 'a',
  result: {
    type: 'succeeded',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-haiku-4-5',
      content: [],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 4 },
    },
  },
})}\n`;

async function fetchResults(alias: Record<string, string>): Promise<readonly RecordedCall[]> {
  const before = (await proxy.entries()).length;
  provider.setAnswer((request) =>
    request.target.endsWith('/results')
      ? buildAnswer({ headers: [['content-type', 'application/x-jsonl']], body: RESULT })
      : buildAnswer({
          headers: [['content-type', 'application/json']],
          body: JSON.stringify({ ...BATCH, results_url: `${provider.origin}/v1/messages/batches/msgbatch_1/results` }),
        }),
  );
  const client = new Anthropic({
    baseURL: proxy.base,
    apiKey: 'sk-ant-0',
    maxRetries: 0,
    defaultHeaders: { 'X-Gateway-Key': proxy.key, ...alias },
  });
  const lines = [];
  for await (const line of await client.messages.batches.results('msgbatch_1')) lines.push(line.custom_id);
  expect(lines).toEqual(['a']);
  await proxy.lastCall();
  return (await proxy.entries())
    .slice(before)
    .flatMap((entry) => (entry.type === 'end' ? [{ begin: entry.begin, end: entry.end }] : []));
}

test('results of a batch that the SDK fetches where the answer says go around the gateway: that stands on the record', async () => {
  const calls = await fetchResults({});
  expect(calls.map(({ begin, end }) => [begin.path, end.flags])).toEqual([
    ['/v1/messages/batches/msgbatch_1', ['leads_away']],
  ]);
  // The gateway's key went along, which is why it is said.
  expect(provider.requests.at(-1)?.header('x-gateway-key')).toBe(proxy.key);
});

test('where the operator leads addresses back, they come through the gateway, and are counted', async () => {
  const calls = await fetchResults({ 'X-Gateway-Provider-Alias': 'back' });
  expect(calls.map(({ begin, end }) => [begin.path, end.usage?.classes])).toEqual([
    ['/v1/messages/batches/msgbatch_1', undefined],
    ['/v1/messages/batches/msgbatch_1/results', { input: 3, output: 4 }],
  ]);
  expect(provider.requests.at(-1)?.header('x-gateway-key')).toBeNull();
  const alias = { 'x-gateway-provider': 'openai', 'x-gateway-provider-alias': 'back' };
  const moved = await ask({ status: 308, headers: [['Location', `${provider.origin}/v1/x?a=1`]], body: '' }, alias);
  expect(moved.response.headers.get('location')).toBe(`${proxy.base}/v1/x?a=1`);
  const lookalike = `${provider.origin}9/v1/x`;
  const other = await ask({ status: 302, headers: [['Location', lookalike]], body: '' }, alias);
  expect(other.response.headers.get('location')).toBe(lookalike);
});

test('a body beyond the limit of editing, a compressed one and one without an address pass byte by byte', async () => {
  const alias = { 'x-gateway-provider-alias': 'back', 'anthropic-version': '2026-10-21' };
  const json: [string, string] = ['content-type', 'application/json'];
  const large = `{"data":["${'x'.repeat(9_000_000)}"],"results_url":"${provider.origin}/v1/x"}`;
  expect((await ask({ headers: [json], body: large }, alias, '/v1/messages/batches')).text).toBe(large);
  const plain = '{ "results_url" : null, "text": "Prüfung \\u00fc" }';
  expect((await ask({ headers: [json], body: plain }, alias, '/v1/messages/batches')).text).toBe(plain);
});
