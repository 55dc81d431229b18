/**
 * What is read of websockets while they pass: a record for each turn, compressed or not, by real clients; how a
 * connection ended by its close frame; the transcripts. The bytes themselves are in `websocket.test.ts`.
 */
import { connect } from 'node:net';
import { createServer } from 'node:tls';
import { GoogleGenAI, type LiveServerMessage } from '@google/genai';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { digestKey } from '../../src/keys/gateway-key.ts';
import { createKeySnapshot } from '../../src/keys/key-snapshot.ts';
import { MAX_TAPPED_BYTES } from '../../src/proxy/websocket/websocket-tap.ts';
import type { CallBody } from '../../src/vocabulary/call-record.ts';
import { makeCertificate } from './make-certificate.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';
import { startWebsocketProvider, type WebsocketProvider } from './websocket-provider.ts';

const open: { close: () => Promise<void> }[] = [];

async function start(
  onSession: Parameters<typeof startWebsocketProvider>[0],
  options: { deflate?: boolean } = {},
): Promise<{ provider: WebsocketProvider; proxy: InProcessProxy }> {
  const provider = await startWebsocketProvider(onSession, options);
  const proxy = await startProxy(provider.origin);
  open.push(proxy, provider);
  return { provider, proxy };
}

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const CREATED = { type: 'session.created', session: { model: 'gpt-realtime-2', type: 'realtime' } };
const DONE = {
  type: 'response.done',
  response: {
    usage: {
      total_tokens: 253,
      input_tokens: 132,
      output_tokens: 121,
      input_token_details: {
        text_tokens: 119,
        audio_tokens: 13,
        cached_tokens: 64,
        cached_tokens_details: { text_tokens: 64, audio_tokens: 0 },
      },
      output_token_details: { text_tokens: 30, audio_tokens: 91 },
    },
  },
};
const ONE_TURN = {
  input: 55,
  input_audio: 13,
  cache_read: 64,
  cache_read_audio: 0,
  output: 30,
  output_audio: 91,
};

/** Answers every `response.create` with a turn, and gives back every binary message. */
function serveTurns(session: WebSocket): void {
  session.send(JSON.stringify(CREATED));
  session.on('message', (data, isBinary) => {
    if (isBinary) {
      session.send(data);
      return;
    }
    session.send(JSON.stringify({ type: 'response.created', response: {} }));
    session.send(JSON.stringify({ type: 'response.output_audio.delta', delta: 'UklGRg==' }));
    session.send(JSON.stringify({ type: 'response.output_text.delta', delta: 'hi' }));
    session.send(JSON.stringify(DONE));
  });
}

function connectTo(proxy: InProcessProxy, target = '/v1/realtime?model=gpt-realtime', deflate = false): WebSocket {
  return new WebSocket(`ws://127.0.0.1:${proxy.port}${target}`, {
    headers: { 'X-Gateway-Key': proxy.key, Authorization: 'Bearer CANARY' },
    perMessageDeflate: deflate ? { threshold: 0 } : false,
  });
}

function opened(client: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    client.once('open', resolve);
    client.once('error', reject);
  });
}

function closed(client: WebSocket): Promise<{ code: number; reason: string }> {
  return new Promise((resolve) => client.once('close', (code, reason) => resolve({ code, reason: reason.toString() })));
}

/** Waits for it; the test's own limit ends the wait. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Sends `count` turns and resolves with all messages once the last turn is over. */
function takeTurns(client: WebSocket, count: number): Promise<string[]> {
  return new Promise((resolve) => {
    const messages: string[] = [];
    let left = count;
    client.on('message', (data) => {
      messages.push(String(data));
      if (String(data).includes('"response.done"')) left -= 1;
      if (left === 0) resolve(messages);
    });
    for (let turn = 0; turn < count; turn += 1) client.send('{"type":\n"response.create"}');
  });
}

async function bodiesOf(proxy: InProcessProxy): Promise<readonly CallBody[]> {
  return (await proxy.entries()).flatMap((entry) => (entry.type === 'body' ? [entry.body] : []));
}

test.each([false, true])('three turns are three calls under their connection (compressed: %s)', async (deflate) => {
  const { provider, proxy } = await start(serveTurns, { deflate });
  const client = connectTo(proxy, undefined, deflate);
  await opened(client);
  expect(client.extensions).toBe(deflate ? 'permessage-deflate' : '');
  const messages = await takeTurns(client, 3);
  expect(messages.at(-1)).toBe(JSON.stringify(DONE));
  const echoed = new Promise((resolve) => client.once('message', (data) => resolve(data)));
  client.send(Buffer.alloc(100_000, 7));
  expect(await echoed).toEqual(Buffer.alloc(100_000, 7));
  const atProvider = new Promise((resolve) => provider.sessions[0]?.once('close', (code) => resolve(code)));
  const over = closed(client);
  client.close(1000, 'bye');
  expect(await over).toEqual({ code: 1000, reason: 'bye' });
  expect(await atProvider).toBe(1000);

  const { begin, end, turns } = await proxy.lastConnection();
  expect(begin).toMatchObject({ endpoint: 'realtime', modelRequested: 'gpt-realtime', streamed: true });
  expect(end).toMatchObject({
    status: 101,
    outcome: 'ok',
    model: 'gpt-realtime-2',
    usage: null,
    usageSource: 'none',
    flags: ['usage_in_turns'],
    errorType: null,
  });
  expect(end.firstTokenMs).not.toBeNull();
  expect(turns).toHaveLength(3);
  expect(new Set(turns.map((turn) => turn.begin.id)).size).toBe(3);
  for (const turn of turns) {
    expect(turn.begin).toMatchObject({
      connectionId: begin.id,
      endpoint: 'realtime',
      path: begin.path,
      keyId: begin.keyId,
      modelRequested: 'gpt-realtime',
    });
    expect(turn.begin.requestedAtMs).toBeGreaterThanOrEqual(begin.requestedAtMs);
    expect(turn.end).toMatchObject({
      status: 101,
      outcome: 'ok',
      model: 'gpt-realtime-2',
      usage: { classes: ONE_TURN },
      usageSource: 'provider',
      flags: [],
    });
    expect(turn.end.firstTokenMs).not.toBeNull();
  }
  // The connection's bytes are those that no turn has: together they are all that passed.
  const all = [end, ...turns.map((turn) => turn.end)];
  const sum = (name: 'requestBytes' | 'responseBytes') => all.reduce((bytes, each) => bytes + each[name], 0);
  expect(sum('requestBytes')).toBeGreaterThan(deflate ? 100 : 100_000);
  expect(sum('responseBytes')).toBeGreaterThan(sum('requestBytes'));

  const bodies = await bodiesOf(proxy);
  const bodyOf = (id: string, direction: string) =>
    bodies.find((body) => body.id === id && body.direction === direction)?.bytes.toString();
  expect(new Set(bodies.map(({ contentType }) => contentType))).toEqual(new Set(['application/x-ndjson']));
  expect(bodyOf(begin.id, 'response')).toBe(`${JSON.stringify(CREATED)}\n`);
  const requests = turns.map((turn) => bodyOf(turn.begin.id, 'request') ?? '').join('');
  expect(requests).toBe('{"type": "response.create"}\n'.repeat(3));
  expect(bodyOf(turns[1]?.begin.id ?? '', 'response')).toBe(
    `{"type":"response.created","response":{}}\n{"type":"response.output_text.delta","delta":"hi"}\n${JSON.stringify(DONE)}\n`,
  );
  expect(JSON.stringify(await proxy.entries())).not.toContain('CANARY');
});

test.each([false, true])('the end of a turn reaches its client behind its record (compressed: %s)', async (deflate) => {
  const { proxy } = await start(serveTurns, { deflate });
  const { spool } = proxy.gateway;
  const endNow = spool.end.bind(spool);
  const waiting: (() => void)[] = [];
  spool.end = (...record) => void waiting.push(() => endNow(...record));
  const client = connectTo(proxy, undefined, deflate);
  const messages: string[] = [];
  client.on('message', (data) => messages.push(String(data)));
  await opened(client);
  client.send('{"type":"response.create"}');
  await until(() => waiting.length === 1);
  // Time for what would have been passed on without waiting.
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(messages.filter((message) => message.includes('"response.done"'))).toEqual([]);
  for (const write of waiting.splice(0)) write();
  await until(() => messages.at(-1)?.includes('"response.done"') === true);
  spool.end = endNow;
});

test('a provider that ends the session with an error code is recorded with it, and the client gets the code', async () => {
  const { proxy } = await start((session) => session.close(1008, 'quota exceeded'));
  const over = closed(connectTo(proxy));
  expect(await over).toEqual({ code: 1008, reason: 'quota exceeded' });
  expect((await proxy.lastConnection()).end).toMatchObject({
    status: 101,
    outcome: 'upstream_stream_error',
    errorType: 'websocket_close_1008',
    errorMessage: 'quota exceeded',
  });
});

test('an error event does not make the session a failed one, but is kept', async () => {
  const { proxy } = await start((session) => {
    session.send('{"type":"error","error":{"type":"invalid_request_error","message":"no such item"}}');
    session.close(1000);
  });
  await closed(connectTo(proxy));
  expect((await proxy.lastConnection()).end).toMatchObject({
    outcome: 'ok',
    errorType: 'invalid_request_error',
    errorMessage: 'no such item',
  });
});

test('the credential that the gateway keeps is kept out of the records of the turns, which repeat it', async () => {
  const KEPT = 'sk-proj-KEPTkeptKEPTkept0123456789';
  const failed = { id: 'r1', status: 'failed', status_details: { error: { type: 'e', message: `bad key ${KEPT}` } } };
  const { provider, proxy } = await start((session) => {
    session.send(JSON.stringify(CREATED));
    session.on('message', () => {
      session.send('{"type":"response.created","response":{"id":"r1"}}');
      session.send(JSON.stringify({ type: 'response.done', response: failed }));
      session.send(`{"type":"error","error":{"type":"e","message":"bad key ${KEPT}"}}`);
      session.close(1000);
    });
  });
  const { origin } = provider;
  Object(proxy.gateway.routes).aliases = { openai: { kept: { origin, region: null } } };
  proxy.gateway.credentials.current = new Map([['1 openai kept', { origin, value: KEPT }]]);
  const headers = { 'X-Gateway-Key': proxy.key, 'X-Gateway-Provider': 'openai', 'X-Gateway-Provider-Alias': 'kept' };
  const client = new WebSocket(`ws://127.0.0.1:${proxy.port}/v1/realtime?model=gpt-realtime`, { headers });
  await opened(client);
  client.send('{"type":"response.create"}');
  await closed(client);
  const { end, turns } = await proxy.lastConnection();
  expect(turns.map((turn) => turn.end.errorMessage)).toEqual(['bad key ***']);
  expect(end.errorMessage).toBe('bad key ***');
  const entries = await proxy.entries();
  const bodies = entries.flatMap((entry) => (entry.type === 'body' ? [entry.body] : []));
  expect(bodies.length).toBeGreaterThan(1);
  expect(bodies.filter(({ bytes }) => bytes.includes('KEPTkept'))).toEqual([]);
  expect(JSON.stringify(entries)).not.toContain('KEPTkept');
});

test.each(['provider', 'client'])(
  'what was reported stands when the %s breaks off in the middle of a turn',
  async (who) => {
    const { provider, proxy } = await start((session) => {
      serveTurns(session);
      session.on('message', () => session.send('{"type":"response.created","response":{"id":"second"}}'));
    });
    const client = connectTo(proxy);
    const begun = new Promise<void>((resolve) => {
      client.on('message', (data) => String(data).includes('"second"') && resolve());
    });
    await opened(client);
    client.send('{"type":"response.create"}');
    await begun;
    const over = closed(client);
    if (who === 'provider') provider.sessions[0]?.terminate();
    else client.terminate();
    expect((await over).code).toBe(1006);
    const { end, turns } = await proxy.lastConnection();
    const outcome = who === 'provider' ? 'upstream_truncated' : 'client_closed';
    const cut = { outcome, ...(who === 'client' ? { closedBefore: 'end' } : {}) };
    expect(end).toMatchObject({ ...cut, usage: null });
    expect(turns.map((turn) => turn.end)).toMatchObject([
      { outcome: 'ok', usage: { classes: { output_audio: 91 } }, usageSource: 'provider' },
      { ...cut, usage: null, usageSource: 'none', providerRequestId: 'second' },
    ]);
  },
);

test('a client that drops the connection after its last turn has left well', async () => {
  const { proxy } = await start(serveTurns);
  const client = connectTo(proxy);
  await opened(client);
  await takeTurns(client, 2);
  client.terminate();
  const { end, turns } = await proxy.lastConnection();
  expect(end).toMatchObject({ status: 101, outcome: 'ok', flags: ['usage_in_turns'] });
  expect(turns).toHaveLength(2);
});

test.each(['provider', 'client'])('a goodbye of the %s in the middle of a turn cuts that turn alone', async (who) => {
  const { provider, proxy } = await start((session) => {
    serveTurns(session);
    session.on('message', () => session.send('{"type":"response.created","response":{"id":"second"}}'));
  });
  const client = connectTo(proxy);
  const begun = new Promise<void>((resolve) => {
    client.on('message', (data) => String(data).includes('"second"') && resolve());
  });
  await opened(client);
  client.send('{"type":"response.create"}');
  await begun;
  const over = closed(client);
  if (who === 'provider') provider.sessions[0]?.close(1000);
  else client.close(1000);
  expect((await over).code).toBe(1000);
  const { end, turns } = await proxy.lastConnection();
  expect(end).toMatchObject({ outcome: 'ok', flags: ['usage_in_turns'] });
  expect(turns.map((turn) => turn.end.outcome)).toEqual([
    'ok',
    who === 'provider' ? 'upstream_truncated' : 'client_closed',
  ]);
});

test('a message too large to be read ends the reading and nothing else', async () => {
  const { proxy } = await start((session) => {
    session.on('message', () => {
      session.send(Buffer.alloc(MAX_TAPPED_BYTES + 1));
      session.send(JSON.stringify(DONE));
      session.close(1000);
    });
  });
  const client = connectTo(proxy);
  await opened(client);
  const sizes: number[] = [];
  client.on('message', (data) => sizes.push(Buffer.isBuffer(data) ? data.length : 0));
  client.send('{}');
  expect((await closed(client)).code).toBe(1000);
  expect(sizes).toEqual([MAX_TAPPED_BYTES + 1, JSON.stringify(DONE).length]);
  expect((await proxy.lastConnection()).end).toMatchObject({
    outcome: 'ok',
    usage: null,
    usageSource: 'none',
    flags: ['tap_limit'],
  });
});

test('bodies are not kept where the policy says so', async () => {
  const provider = await startWebsocketProvider(serveTurns);
  const proxy = await startProxy(provider.origin, { bodies: 'off' });
  open.push(proxy, provider);
  const client = connectTo(proxy);
  await opened(client);
  await takeTurns(client, 1);
  client.close();
  await closed(client);
  expect((await proxy.lastConnection()).turns[0]?.end.usage?.classes.output_audio).toBe(91);
  expect(await bodiesOf(proxy)).toEqual([]);
});

test('OpenAI’s client: responses over a websocket', async () => {
  const completed = {
    type: 'response.completed',
    response: { id: 'resp_1', model: 'gpt-6-luna', usage: { input_tokens: 40, output_tokens: 6, total_tokens: 46 } },
  };
  const { provider, proxy } = await start((session) => {
    session.on('message', () => session.send(JSON.stringify(completed)));
  });
  const openai = new OpenAI({ apiKey: 'sk-CANARY', baseURL: `${proxy.base}/v1` });
  const session = new ResponsesWS(openai, { headers: { 'X-Gateway-Key': proxy.key } });
  let done = 0;
  const over = new Promise<void>((resolve) => {
    session.on('response.completed', () => {
      done += 1;
      if (done < 2) session.send({ type: 'response.create', model: 'gpt-6-luna', input: 'again' });
      else session.close();
    });
    session.socket.once('close', () => resolve());
  });
  session.send({ type: 'response.create', model: 'gpt-6-luna', input: 'hello' });
  await over;
  expect(provider.requests[0]?.headers.authorization).toBe('Bearer sk-CANARY');
  expect(provider.requests[0]?.headers['x-gateway-key']).toBeUndefined();
  const { begin, end, turns } = await proxy.lastConnection();
  expect(begin).toMatchObject({ provider: 'openai', endpoint: 'responses.websocket' });
  expect(end).toMatchObject({ outcome: 'ok', modelRequested: 'gpt-6-luna', usage: null });
  const one = { outcome: 'ok', model: 'gpt-6-luna', modelRequested: 'gpt-6-luna', providerRequestId: 'resp_1' };
  expect(turns.map((turn) => turn.end)).toMatchObject([
    { ...one, usage: { classes: { input: 40, output: 6 } } },
    { ...one, usage: { classes: { input: 40, output: 6 } } },
  ]);
});

/** As Codex 0.171.0 sends it; the first message only warms up, and has no turn yet. */
function askAsCodex(turn: string, more: object = {}): string {
  const metadata = JSON.stringify({ session_id: 'ses-1', turn_id: turn, root_turn_id: turn });
  const client_metadata = { turn_id: turn, 'x-codex-turn-metadata': metadata };
  return JSON.stringify({ type: 'response.create', model: 'gpt-6-luna', input: [], client_metadata, ...more });
}

test('each message says whose turn it is and which run it belongs to', async () => {
  const { proxy } = await start((session) => {
    session.on('message', () => session.send('{"type":"response.completed","response":{"id":"r","usage":{}}}'));
  });
  const plain = { accountId: 1, keyId: 7, revoked: false, expiresAtMs: null, usage: null, bodies: null };
  const runsFrom = ['metadata.job', 'agents'];
  proxy.gateway.keys.snapshot = createKeySnapshot(2, [{ ...plain, digest: digestKey(proxy.key), runsFrom }]);
  const headers = { 'X-Gateway-Key': proxy.key, 'user-agent': 'codex_exec/0.171.0 (Debian)', 'session-id': 'ses-1' };
  const client = new WebSocket(`ws://127.0.0.1:${proxy.port}/v1/responses`, {
    headers: { ...headers, authorization: 'Bearer sk-CANARY' },
  });
  await new Promise((resolve) => client.once('open', resolve));
  const asked = [
    askAsCodex('', { generate: false }),
    askAsCodex('turn-1'),
    askAsCodex('turn-2', { metadata: { job: 'nightly' } }),
    askAsCodex('sk-CANARY'),
  ];
  for (const message of asked) {
    const answered = new Promise((resolve) => client.once('message', resolve));
    client.send(message);
    await answered;
  }
  client.close();
  await closed(client);
  const { begin, turns } = await proxy.lastConnection();
  const session = { client: 'codex', agentSession: 'ses-1', traceId: 'codex:ses-1', traceSource: 'agents' };
  expect(begin).toMatchObject({ ...session, spanPath: 'main' });
  expect(turns.map((turn) => turn.begin)).toMatchObject([
    { ...session, spanPath: 'main' },
    { ...session, spanPath: 'main/turn-turn-1', agentTurn: 'turn-1' },
    { agentTurn: 'turn-2', traceId: 'nightly', traceSource: 'metadata.job' },
    { ...session, spanPath: 'main' },
  ]);
  for (const index of [0, 3]) expect(turns[index]?.begin).not.toHaveProperty('agentTurn');
});

test('a turn that continues the one before is in its chain, and says which answer it was given', async () => {
  let answered = 0;
  const { proxy } = await start((session) => {
    session.on('message', () => {
      answered += 1;
      session.send(JSON.stringify({ type: 'response.completed', response: { id: `resp_${answered}`, usage: {} } }));
    });
  });
  const plain = { accountId: 1, keyId: 7, revoked: false, expiresAtMs: null, usage: null, bodies: null };
  const runsFrom = ['previous_response_id'];
  proxy.gateway.keys.snapshot = createKeySnapshot(2, [{ ...plain, digest: digestKey(proxy.key), runsFrom }]);
  const client = new WebSocket(`ws://127.0.0.1:${proxy.port}/v1/responses`, {
    headers: { 'X-Gateway-Key': proxy.key },
  });
  await new Promise((resolve) => client.once('open', resolve));
  for (const more of [{}, { previous_response_id: 'resp_1' }]) {
    const heard = new Promise((resolve) => client.once('message', resolve));
    client.send(JSON.stringify({ type: 'response.create', model: 'gpt-6', input: [], ...more }));
    await heard;
  }
  client.close();
  await closed(client);
  const { turns } = await proxy.lastConnection();
  expect(turns).toMatchObject([
    { begin: { traceId: null }, end: { answerId: 'resp_1' } },
    { begin: { traceId: 'response:resp_1', traceSource: 'previous_response_id' }, end: { answerId: 'resp_2' } },
  ]);
});

test('Google’s client: a live session, found by its path, its key kept out of the record', async () => {
  const { provider, proxy } = await start((session) => {
    session.on('message', (data) => {
      const isSetup = String(data).includes('"setup"');
      const usageMetadata = { promptTokenCount: 30, responseTokenCount: 5, totalTokenCount: 35 };
      const answer = isSetup ? { setupComplete: {} } : { serverContent: { turnComplete: true }, usageMetadata };
      // As the provider does: JSON in binary messages.
      session.send(Buffer.from(JSON.stringify(answer)));
    });
  });
  const google = new GoogleGenAI({
    apiKey: 'CANARY',
    httpOptions: { baseUrl: proxy.base, headers: { 'X-Gateway-Key': proxy.key } },
  });
  const received: LiveServerMessage[] = [];
  let onMessage = (): void => {};
  const live = await google.live.connect({
    model: 'gemini-3.8-live',
    callbacks: {
      onmessage: (message) => {
        received.push(message);
        onMessage();
      },
    },
  });
  const answered = new Promise<void>((resolve) => {
    onMessage = resolve;
  });
  live.sendClientContent({ turns: 'hello' });
  await answered;
  expect(received.at(-1)?.usageMetadata?.totalTokenCount).toBe(35);
  live.close();
  const { begin, end, turns } = await proxy.lastConnection();
  expect(provider.requests[0]?.url).toMatch(
    /^\/ws\/google\.ai\.generativelanguage\.v1\w*\.GenerativeService\.BidiGenerateContent\?key=CANARY$/,
  );
  expect(begin).toMatchObject({ provider: 'gemini', endpoint: 'bidiGenerateContent' });
  expect(begin.path).toMatch(/BidiGenerateContent\?key=\*\*\*$/);
  expect(end).toMatchObject({ outcome: 'ok', modelRequested: 'gemini-3.8-live', usage: null });
  expect(turns.map((turn) => turn.end)).toMatchObject([
    { outcome: 'ok', modelRequested: 'gemini-3.8-live', usage: { classes: { input: 30, output: 5 } } },
  ]);
  expect(JSON.stringify(await proxy.entries())).not.toContain('CANARY');
});

test('Together’s path is a websocket too', async () => {
  const { proxy } = await start((session) => session.close(1000));
  const client = new WebSocket(`ws://127.0.0.1:${proxy.port}/v1/audio/speech/websocket?model=m`, {
    headers: { 'X-Gateway-Key': proxy.key, 'X-Gateway-Provider': 'together' },
  });
  await closed(client);
  expect((await proxy.lastConnection()).begin).toMatchObject({
    provider: 'together',
    endpoint: 'audio.speech.websocket',
  });
});

test('OpenAI’s realtime client, which speaks only TLS, through a terminator in front', async () => {
  const { proxy } = await start(serveTurns);
  const { key, cert } = makeCertificate();
  const front = createServer({ key, cert, ALPNProtocols: ['http/1.1'] }, (socket) => {
    const onward = connect(proxy.port, '127.0.0.1');
    socket.on('error', () => onward.destroy());
    onward.on('error', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => front.listen(0, resolve));
  const address = front.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const openai = new OpenAI({ apiKey: 'sk-CANARY', baseURL: `https://localhost:${address.port}/v1` });
  const session = new OpenAIRealtimeWS(
    { model: 'gpt-realtime', options: { ca: cert, headers: { 'X-Gateway-Key': proxy.key } } },
    openai,
  );
  const usage = await new Promise((resolve, reject) => {
    session.on('error', reject);
    session.on('session.created', () => session.send({ type: 'response.create' }));
    session.on('response.done', ({ response }) => resolve(response.usage?.total_tokens));
  });
  expect(usage).toBe(253);
  session.close();
  const { begin, end, turns } = await proxy.lastConnection();
  expect(begin).toMatchObject({ provider: 'openai', endpoint: 'realtime', modelRequested: 'gpt-realtime' });
  expect(end).toMatchObject({ outcome: 'ok', usage: null });
  expect(turns.map((turn) => turn.end)).toMatchObject([
    { outcome: 'ok', usage: { classes: { output: 30, output_audio: 91 } } },
  ]);
  await new Promise((resolve) => front.close(resolve));
});
