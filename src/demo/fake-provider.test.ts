import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FakeProvider, startFakeProvider } from './fake-provider.ts';

const fixturesDir = join(import.meta.dirname, '..', '..', 'fixtures');
let provider: FakeProvider;

beforeAll(async () => {
  provider = await startFakeProvider({ host: '127.0.0.1', port: 0, fixturesDir, latencyMs: 0, eventDelayMs: 0 });
});
afterAll(() => provider.close());

async function post(path: string, body: unknown) {
  const response = await fetch(provider.origin + path, { method: 'POST', body: JSON.stringify(body) });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, type: response.headers.get('content-type'), text: bytes.toString(), bytes };
}

function fixture(name: string): Buffer {
  return readFileSync(join(fixturesDir, name));
}

const messages = [{ role: 'user', content: 'Hello' }];

test('an OpenAI stream has the usage members and chunk when usage is asked for, and neither when it is not', async () => {
  const chat = { model: 'gpt-4o-mini', stream: true, messages };
  const asked = await post('/openai/v1/chat/completions', { ...chat, stream_options: { include_usage: true } });
  const notAsked = await post('/openai/v1/chat/completions', chat);
  expect(asked.text).toContain('"usage":null');
  expect(asked.text.match(/"choices":\[\],"usage":\{/g)).toHaveLength(1);
  expect(notAsked.text).not.toContain('usage');
  expect(notAsked.text.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(asked.type).toBe('text/event-stream; charset=utf-8');
});

test('every provider answers its own path, with its own fixture, as the gateway maps it', async () => {
  const calls = [
    ['/openai/v1/responses', { model: 'x' }, 'output'],
    ['/openai/v1/embeddings', { model: 'x', input: 'a' }, 'embedding'],
    ['/anthropic/v1/messages', { model: 'x', messages }, 'input_tokens'],
    ['/anthropic/v1/messages/count_tokens', { model: 'x', messages }, 'input_tokens'],
    ['/gemini/v1/models/gemini-2.5-flash:generateContent', { contents: [] }, 'usageMetadata'],
    ['/gemini/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse', { contents: [] }, 'usageMetadata'],
    ['/bedrock/model/amazon.nova-lite-v1%3A0/converse', { messages: [] }, 'inputTokens'],
    ['/fireworks/inference/v1/chat/completions', { model: 'x', messages }, 'usage'],
    ['/together/v1/chat/completions', { model: 'x', messages }, 'usage'],
    ['/deepseek/anthropic/v1/messages', { model: 'x', messages }, 'input_tokens'],
    ['/deepseek/chat/completions', { model: 'x', messages, stream: true }, 'prompt_cache_miss_tokens'],
  ] as const;
  for (const [path, body, expected] of calls) {
    const answer = await post(path, body);
    expect([path, answer.status]).toEqual([path, 200]);
    expect(answer.text).toContain(expected);
  }
});

test('the frames of a Bedrock stream arrive byte for byte', async () => {
  const path = '/bedrock/model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse-stream';
  const answer = await post(path, { messages: [] });
  expect(answer.bytes.equals(fixture('bedrock/converse-stream.response.bin'))).toBe(true);
});

test('the elements of a streamed JSON array add up to the whole array', async () => {
  const answer = await post('/gemini/v1beta/models/gemini-2.5-flash:streamGenerateContent', { contents: [] });
  expect(answer.bytes.equals(fixture('gemini/stream-array.response.json'))).toBe(true);
});

test('another model than the fixture has is named in the answer', async () => {
  const answer = await post('/openai/v1/chat/completions', { model: 'gpt-"odd"', messages });
  expect(JSON.parse(answer.text).model).toBe('gpt-"odd"');
});

test('a request with tools gets a tool call, and plain text once the tool has answered', async () => {
  const tools = [{ type: 'function', function: { name: 'read_toll' } }];
  const first = await post('/openai/v1/chat/completions', { model: 'gpt-4o-mini', messages, tools });
  expect(JSON.parse(first.text).choices[0].finish_reason).toBe('tool_calls');
  const after = [...messages, { role: 'tool', tool_call_id: 'call_demo1', content: '3' }];
  const second = await post('/openai/v1/chat/completions', { model: 'gpt-4o-mini', messages: after, tools });
  expect(JSON.parse(second.text).choices[0].finish_reason).toBe('stop');
  const claude = await post('/anthropic/v1/messages', { model: 'x', messages, tools });
  expect(JSON.parse(claude.text).stop_reason).toBe('tool_use');
});

test('an unknown path is answered with 404 in the shape of the provider', async () => {
  const body = {};
  expect(JSON.parse((await post('/openai/v1/nothing', body)).text).error.type).toBe('invalid_request_error');
  expect(JSON.parse((await post('/anthropic/v1/nothing', body)).text).error.type).toBe('not_found_error');
  expect(JSON.parse((await post('/gemini/v1beta/nothing', body)).text).error.status).toBe('NOT_FOUND');
  expect(Object.keys(JSON.parse((await post('/bedrock/nothing', body)).text))).toEqual(['message']);
  expect((await post('/nobody/v1/chat/completions', body)).status).toBe(404);
});

test('the list of models has the shape of the provider', async () => {
  const read = async (path: string) => JSON.parse(await (await fetch(provider.origin + path)).text());
  expect((await read('/openai/v1/models')).data).toContainEqual({
    id: 'gpt-4o-mini',
    object: 'model',
    created: 1795766400,
    owned_by: 'tollgate-demo',
  });
  expect((await read('/anthropic/v1/models')).has_more).toBe(false);
  expect((await read('/gemini/v1beta/models')).models[0].name).toMatch(/^models\//);
});

test('each answer has a request id of its own', async () => {
  const ids = await Promise.all(
    [1, 2].map(async () => {
      const response = await fetch(`${provider.origin}/openai/v1/embeddings`, { method: 'POST', body: '{}' });
      return response.headers.get('x-request-id');
    }),
  );
  expect(ids[0]).toMatch(/^req_demo_/);
  expect(ids[0]).not.toBe(ids[1]);
});

test('a Responses stream has every event that its readers wait for', async () => {
  const answer = await post('/openai/v1/responses', { model: 'gpt-5-mini', input: 'Hi', stream: true });
  const types = [...answer.text.matchAll(/^event: (\S+)$/gm)].map(([, type]) => type);
  expect([...new Set(types)]).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ]);
});

test.each([
  ['us.anthropic.claude-sonnet-4-5-20250929-v1%3A0', 'invoke', 'bedrock/invoke-claude.response.json'],
  [
    'us.anthropic.claude-haiku-4-5-20251001-v1%3A0',
    'invoke-with-response-stream',
    'bedrock/invoke-claude-stream.response.bin',
  ],
  ['eu.amazon.nova-pro-v1%3A0', 'invoke', 'bedrock/invoke-nova.response.json'],
  ['meta.llama3-1-8b-instruct-v1%3A0', 'invoke', 'bedrock/invoke-llama.response.json'],
])('%s by %s is answered in the form of its maker', async (model, verb, name) => {
  const answer = await post(`/bedrock/model/${model}/${verb}`, { anthropic_version: 'bedrock-2023-05-31', messages });
  expect(answer.status).toBe(200);
  const ours = (text: string) => text.replace(/"model":\s*"[^"]*"/, '');
  expect(ours(answer.text)).toBe(ours(fixture(name).toString()));
});

test('a model of which the demo has no form is refused, as is another provider’s', async () => {
  expect((await post('/bedrock/model/nobody.model-v1/invoke', {})).status).toBe(404);
  const claude = await post('/bedrock/model/claude-haiku-4-5/converse', { messages });
  expect([claude.status, Object.keys(JSON.parse(claude.text))]).toEqual([400, ['message']]);
});

test.each([
  ['/openai/v1/chat/completions', 'claude-haiku-4-5', 'invalid_request_error'],
  ['/anthropic/v1/messages', 'gpt-4o', 'not_found_error'],
  ['/gemini/v1beta/models/gpt-4o:generateContent', null, undefined],
])('%s refuses %s as the provider would', async (path, model, type) => {
  const answer = await post(path, { ...(model === null ? {} : { model }), messages, contents: [] });
  expect([answer.status, JSON.parse(answer.text).error.type]).toEqual([404, type]);
});

test.each([
  ['/openai/v1/chat/completions', 'o4-mini'],
  ['/together/v1/chat/completions', 'deepseek-ai/DeepSeek-V3'],
  ['/deepseek/anthropic/v1/messages', 'claude-opus-5'],
])('%s takes %s, which may be its own', async (path, model) => {
  expect((await post(path, { model, messages })).status).toBe(200);
});

test.each([
  ['/openai/v1/chat/completions', 'invalid_request_error'],
  ['/anthropic/v1/messages', 'invalid_request_error'],
  ['/gemini/v1beta/models/gemini-2.5-flash:generateContent', undefined],
])('broken JSON to %s is refused as the provider would', async (path, type) => {
  const response = await fetch(provider.origin + path, { method: 'POST', body: '{"model":' });
  expect([response.status, JSON.parse(await response.text()).error.type]).toEqual([400, type]);
});

test('a compressed request is read', async () => {
  const body = gzipSync(JSON.stringify({ model: 'gpt-odd', messages }));
  const headers = { 'content-encoding': 'gzip' };
  const response = await fetch(`${provider.origin}/openai/v1/chat/completions`, { method: 'POST', headers, body });
  expect(JSON.parse(await response.text()).model).toBe('gpt-odd');
});
