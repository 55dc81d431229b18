/** Runs from what clients send of themselves: what is recorded, who wins, and that all of it goes on unchanged. */
import { beforeEach, expect, test } from 'vitest';
import { digestKey } from '../../src/keys/gateway-key.ts';
import { createKeySnapshot } from '../../src/keys/key-snapshot.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';

const { provider, proxy } = await openProxy();

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SUB_AGENT = [
  'User-Agent: claude-cli/2.1.197 (external, sdk-cli)',
  'x-app: cli',
  'X-Claude-Code-Session-Id: d0202748-c40e',
  'x-claude-code-agent-id: adafc638',
  'x-claude-code-parent-agent-id: a2cad32b',
  `traceparent: 00-${TRACE}-00f067aa0ba902b7-01`,
  'anthropic-version: 2023-06-01',
];

function setSources(...runsFrom: readonly string[]): void {
  const plain = { accountId: 1, keyId: 7, revoked: false, expiresAtMs: null, usage: null, bodies: null };
  proxy.gateway.keys.snapshot = createKeySnapshot(2, [{ ...plain, digest: digestKey(proxy.key), runsFrom }]);
}

beforeEach(() => {
  provider.setAnswer(() => buildAnswer({ body: '{}' }));
  setSources();
});

/** The record's beginning and the names and values that arrived. */
async function call(headers: readonly string[], body: unknown = {}, path = '/v1/messages') {
  const seen = provider.requests.length;
  const text = JSON.stringify(body);
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: g',
    `X-Gateway-Key: ${proxy.key}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...headers,
  ].join('\r\n');
  await readRawAnswer('127.0.0.1', proxy.port, `${head}\r\n\r\n${text}`);
  const { begin } = await proxy.lastCall();
  return { begin, arrived: provider.requests[seen]?.headBytes.toString('latin1') ?? '' };
}

test('without a word about runs, the ids are kept, the call is in no run, and every header goes on', async () => {
  const { begin, arrived } = await call(SUB_AGENT);
  expect(begin).toMatchObject({
    client: 'claude-code',
    agent: 'adafc638',
    agentSession: 'd0202748-c40e',
    agentPath: 'main/a2cad32b/adafc638',
    agentTurn: TRACE,
    traceId: null,
    spanPath: null,
  });
  expect(begin).not.toHaveProperty('traceSource');
  for (const header of SUB_AGENT) expect(arrived).toContain(`\r\n${header}\r\n`);
});

test('with runs from agents, a session is a run, with steps for turn and agents', async () => {
  setSources('agents');
  expect((await call(SUB_AGENT)).begin).toMatchObject({
    traceId: 'claude-code:d0202748-c40e',
    spanPath: `main/turn-${TRACE}/agent-a2cad32b/agent-adafc638`,
    traceSource: 'agents',
  });
  expect((await call(SUB_AGENT.slice(0, 3))).begin).toMatchObject({
    agent: 'main',
    agentPath: 'main',
    traceId: 'claude-code:d0202748-c40e',
    spanPath: 'main',
  });
  // A client that names no session.
  const { begin } = await call(['User-Agent: my-app/1.0', 'X-Session-Id: ses_1']);
  expect(begin).toMatchObject({ client: 'my-app', traceId: null, spanPath: null });
  expect(begin).not.toHaveProperty('agent');
});

test('the client’s own headers win, each for itself', async () => {
  setSources('agents');
  expect((await call([...SUB_AGENT, 'X-Gateway-Trace-Id: mine'])).begin).toMatchObject({
    traceId: 'mine',
    spanPath: `main/turn-${TRACE}/agent-a2cad32b/agent-adafc638`,
    traceSource: 'header',
  });
  expect((await call([...SUB_AGENT, 'X-Gateway-Span-Path: my/step'])).begin).toMatchObject({
    traceId: 'claude-code:d0202748-c40e',
    spanPath: 'my/step',
    traceSource: 'agents',
  });
  expect((await call([...SUB_AGENT, 'X-Gateway-Client: nightly'])).begin).toMatchObject({
    client: 'nightly',
    traceId: 'nightly:d0202748-c40e',
  });
});

test('an id that holds a credential is kept nowhere', async () => {
  setSources('agents', 'metadata.run', 'baggage.run');
  const secret = 'sk-ant-abcdefghijklmnopqrstuvwxyz';
  const session = 'X-Claude-Code-Session-Id';
  const user = 'User-Agent: claude-cli/2.1.197 (external)';
  for (const headers of [
    [user, `x-api-key: ${secret}`, `${session}: ${secret}`],
    [user, `${session}: ${secret}`],
    ['x-api-key: plain-credential-1', `baggage: run=plain-credential-1`],
  ]) {
    const { begin } = await call(['anthropic-version: 2023-06-01', ...headers], { metadata: { run: secret } });
    expect(begin.traceId).toBeNull();
    expect(JSON.stringify(begin)).not.toMatch(/sk-ant|plain-credential/);
  }
});

test.each<[string, readonly string[], unknown, string | null]>([
  ['traceparent', [`traceparent: 00-${TRACE}-00f067aa0ba902b7-01`], {}, TRACE],
  ['traceparent', ['traceparent: 00-abc-01'], {}, null],
  [
    'x-amzn-trace-id',
    ['X-Amzn-Trace-Id: Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1'],
    {},
    '1-5759e988-bd862e3fe1be46a994272793',
  ],
  ['baggage.session.id', ['baggage: user.id=7, session.id=night%20run;p=1'], {}, 'night run'],
  ['metadata.run', [], { metadata: { run: 'r-1', other: 'x' } }, 'r-1'],
  ['metadata.run', [], { metadata: { run: 7 } }, null],
  ['metadata.user_id', [], { metadata: { user_id: 'user-42' } }, 'user-42'],
  ['metadata.user_id', [], { metadata: { user_id: '{"device_id":"1f","session_id":"d0202748"}' } }, 'd0202748'],
  ['requestMetadata.run', [], { requestMetadata: { run: 'r-2' } }, 'r-2'],
  ['labels.run', [], { labels: { run: 'r-3' } }, 'r-3'],
  ['conversation', [], { conversation: 'conv_1' }, 'conv_1'],
  ['conversation', [], { conversation: { id: 'conv_2' } }, 'conv_2'],
  ['previous_response_id', [], { previous_response_id: 'resp_1' }, 'response:resp_1'],
  ['previous_response_id', [], { previous_response_id: null }, null],
  ['previous_response_id', [], { previous_response_id: 'no id of an answer' }, null],
  ['metadata.run', [], { messages: [{ metadata: { run: 'nested' } }] }, null],
])('with runs from %s', async (source, headers, body, traceId) => {
  setSources(source);
  const { begin, arrived } = await call(['anthropic-version: 2023-06-01', ...headers], body);
  expect(begin).toMatchObject({ traceId, spanPath: null });
  expect(begin.traceSource).toBe(traceId === null ? undefined : source);
  for (const header of headers) expect(arrived).toContain(`\r\n${header}\r\n`);
});

test('the first source of the list that a call has decides', async () => {
  setSources('agents', 'metadata.run', 'traceparent');
  const headers = ['anthropic-version: 2023-06-01', `traceparent: 00-${TRACE}-00f067aa0ba902b7-01`];
  expect((await call(headers, { metadata: { run: 'r-1' } })).begin).toMatchObject({ traceId: 'r-1' });
  expect((await call(headers)).begin).toMatchObject({ traceId: TRACE, traceSource: 'traceparent' });
});

test('a call without a run says that its tool calls may tell it, for keys with that source', async () => {
  setSources('tool_calls', 'traceparent');
  expect((await call([])).begin).toMatchObject({ traceId: null, isPlacedByToolCalls: true });
  const placed = (await call([`traceparent: 00-${TRACE}-00f067aa0ba902b7-01`])).begin;
  expect(placed).toMatchObject({ traceId: TRACE });
  expect(placed).not.toHaveProperty('isPlacedByToolCalls');
  setSources('traceparent');
  expect((await call([])).begin).not.toHaveProperty('isPlacedByToolCalls');
});

test('the id of an answer is kept for keys whose runs are chains, of a stream too; a fetched answer is in its chain', async () => {
  const answer = {
    id: 'resp_2',
    object: 'response',
    status: 'completed',
    usage: { input_tokens: 3, output_tokens: 2 },
  };
  const whole = buildAnswer({ body: JSON.stringify(answer) });
  const events = `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response: answer })}\n\n`;
  const stream = buildAnswer({ headers: [['Content-Type', 'text/event-stream']], body: events });
  const say = async (wanted: typeof whole, stream = false) => {
    provider.setAnswer(() => wanted);
    await call([], { model: 'gpt-6', stream, previous_response_id: 'resp_1' }, '/v1/responses');
    return (await proxy.lastCall()).end;
  };
  setSources('agents');
  expect(await say(whole)).not.toHaveProperty('answerId');
  setSources('previous_response_id');
  expect(await say(whole)).toMatchObject({ answerId: 'resp_2' });
  expect(await say(stream, true)).toMatchObject({ answerId: 'resp_2' });
  provider.setAnswer(() => whole);
  await call([], {}, '/v1/responses/resp_2/cancel');
  const { begin, end } = await proxy.lastCall();
  expect(begin).toMatchObject({ traceId: 'response:resp_2', traceSource: 'previous_response_id' });
  expect(end).not.toHaveProperty('answerId');
});
