/**
 * Claude Code's contract with a gateway (code.claude.com/docs/en/llm-gateway-protocol, read on 2026-11-29): what must reach
 * the provider byte for byte, what it asks beside model calls, and how it learns of errors.
 */
import { beforeEach, expect, test } from 'vitest';
import { digestKey } from '../../src/keys/gateway-key.ts';
import { createKeySnapshot } from '../../src/keys/key-snapshot.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';

const { provider, proxy } = await openProxy();

/** As Claude Code 2.1.197 sent them, in its order. */
const HEADERS = [
  'Content-Type: application/json',
  'User-Agent: claude-cli/2.1.197 (external, sdk-cli)',
  'X-Claude-Code-Session-Id: d0202748-c40e-4cbb-ab99-ae36a82ed7ab',
  'X-Stainless-Arch: x64',
  'X-Stainless-Lang: js',
  'X-Stainless-OS: Linux',
  'X-Stainless-Package-Version: 0.94.0',
  'X-Stainless-Retry-Count: 0',
  'X-Stainless-Runtime: node',
  'X-Stainless-Runtime-Version: v26.3.0',
  'X-Stainless-Timeout: 600',
  'anthropic-beta: claude-code-20250219,context-1m-2025-08-07,interleaved-thinking-2025-05-14,effort-2025-11-24',
  'anthropic-dangerous-direct-browser-access: true',
  'anthropic-version: 2023-06-01',
  'x-api-key: sk-ant-REDACTED',
  'x-app: cli',
  'x-claude-code-agent-id: aaa1de1b77c034579',
  'x-claude-code-parent-agent-id: a62317b8080b65efc',
  'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-014a4c510c98107c-01',
] as const;

/** Members of betas, unknown ones, and the block of the system prompt by which calls are attributed. */
const BODY =
  '{ "model":"claude-opus-4-8",\t"max_tokens":64,"stream":false,"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.197; cc_entrypoint=sdk-cli; cc_is_subagent=true;"}],"context_management":{"edits":[]},"thinking":{"type":"adaptive"},"output_config":{"effort":"high"},"not_yet_known":1.0e2,"metadata":{"user_id":"{\\"device_id\\":\\"1f\\",\\"account_uuid\\":\\"\\",\\"session_id\\":\\"d0202748-c40e-4cbb-ab99-ae36a82ed7ab\\"}"},"messages":[{"role":"user","content":"h\\u0069 ü"}] }';

beforeEach(() => {
  const plain = { accountId: 1, keyId: 7, revoked: false, expiresAtMs: null, usage: null, bodies: null };
  proxy.gateway.keys.snapshot = createKeySnapshot(2, [
    { ...plain, digest: digestKey(proxy.key), runsFrom: ['agents', 'metadata.user_id'] },
  ]);
  provider.setAnswer(() => buildAnswer({ body: '{}' }));
});

async function send(line: string, headers: readonly string[], body = '') {
  const seen = provider.requests.length;
  const head = [
    `${line} HTTP/1.1`,
    'Host: gateway',
    ...headers,
    ...(body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ].join('\r\n');
  const answer = await readRawAnswer('127.0.0.1', proxy.port, Buffer.from(`${head}\r\n\r\n${body}`));
  return { answer, arrived: provider.requests[seen] ?? null };
}

function headerOf(answer: { readonly rawHeaders: readonly string[] }, lower: string): string | undefined {
  return answer.rawHeaders[answer.rawHeaders.findIndex((name) => name.toLowerCase() === lower) + 1];
}

test.each([
  ['a message', 'POST /v1/messages?beta=true', 'messages', HEADERS],
  ['counting tokens', 'POST /v1/messages/count_tokens?beta=true', 'messages.count_tokens', HEADERS],
  [
    'a message for Bedrock',
    'POST /model/us.anthropic.claude-opus-4-8-v1%3A0/invoke',
    'invoke',
    [...HEADERS.filter((header) => !header.startsWith('x-api-key')), 'Authorization: Bearer bedrock-api-key-REDACTED'],
  ],
])('%s reaches the provider with every header and byte of the body', async (_, line, endpoint, headers) => {
  const { arrived } = await send(line, [`X-Gateway-Key: ${proxy.key}`, ...headers], BODY);
  const lines = arrived?.headBytes.toString('latin1').split('\r\n') ?? [];
  const own = /^(?:host|content-length|connection):/i;
  expect(arrived?.requestLine).toBe(`${line} HTTP/1.1`);
  expect(lines.slice(1).filter((text) => text !== '' && !own.test(text))).toEqual(headers);
  expect(arrived?.body().toString()).toBe(BODY);
  const { begin } = await proxy.lastCall();
  expect(begin).toMatchObject({
    endpoint,
    client: 'claude-code',
    agentPath: 'main/a62317b8080b65efc/aaa1de1b77c034579',
    traceId: 'claude-code:d0202748-c40e-4cbb-ab99-ae36a82ed7ab',
  });
});

test('the list of models is the provider’s', async () => {
  const models = '{"data":[{"type":"model","id":"claude-opus-4-8","display_name":"Opus"}],"has_more":false}';
  provider.setAnswer(() => buildAnswer({ body: models }));
  const headers = [`X-Gateway-Key: ${proxy.key}`, 'User-Agent: claude-code/2.1.197', 'anthropic-version: 2023-06-01'];
  const { answer, arrived } = await send('GET /v1/models?limit=1000', headers);
  expect(arrived?.target).toBe('/v1/models?limit=1000');
  expect(answer.status).toBe(200);
  expect(answer.body.toString()).toBe(models);
  expect((await proxy.lastCall()).begin).toMatchObject({ provider: 'anthropic', client: 'claude-code', billed: false });
});

test.each(['HEAD /', 'HEAD /api/hello'])(
  '%s, which it sends without any header of ours, is answered and no refusal',
  async (line) => {
    const before = proxy.attempts.length;
    const { answer, arrived } = await send(line, ['User-Agent: Bun/1.4.0']);
    expect(answer.status).toBeLessThan(400);
    expect(arrived).toBeNull();
    expect(proxy.attempts.length).toBe(before);
  },
);

test.each([
  [429, 'rate_limit_error', { 'retry-after': '7', 'x-should-retry': 'true', 'request-id': 'req_1' }],
  [529, 'overloaded_error', { 'x-should-retry': 'true', 'request-id': 'req_2' }],
  [400, 'invalid_request_error', { 'x-should-retry': 'false', 'request-id': 'req_3' }],
])('an error %d of the provider comes as it is, with what says whether to try again', async (status, type, headers) => {
  const body = `{"type":"error","error":{"type":"${type}","message":"prompt is too long: 200001 tokens > 200000 maximum"}}`;
  provider.setAnswer(() => buildAnswer({ status, headers: Object.entries(headers), body }));
  const { answer } = await send('POST /v1/messages', [`X-Gateway-Key: ${proxy.key}`, ...HEADERS], BODY);
  expect(answer.status).toBe(status);
  expect(answer.body.toString()).toBe(body);
  for (const [name, value] of Object.entries(headers)) expect(headerOf(answer, name)).toBe(value);
});

test('a refusal of the gateway’s own has the provider’s form and is not tried again', async () => {
  const { answer, arrived } = await send('POST /v1/messages', HEADERS, BODY);
  expect(arrived).toBeNull();
  expect(answer.status).toBe(401);
  expect(JSON.parse(answer.body.toString())).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
  expect(headerOf(answer, 'x-should-retry')).toBe('false');
});
