import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';
import { startProxy } from './start-proxy.ts';

const { provider, proxy } = await openProxy();

afterEach(() => {
  proxy.gateway.isDraining = false;
});

const STREAM_HEADERS = [['Content-Type', 'text/event-stream']] as const;

/** An Anthropic stream that was asked for; its start reports 9 input tokens and 1 output token. */
const START = `event: message_start\ndata: ${JSON.stringify({
  type: 'message_start',
  message: { id: 'm', model: 'claude-x', usage: { input_tokens: 9, output_tokens: 1 } },
})}\n\n`;
const DELTA =
  'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"Hi"}}\n\n';
const END =
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":16}}\n\n' +
  'event: message_stop\ndata: {"type":"message_stop"}\n\n';

function messagesRequest(extra: readonly string[] = []): string {
  const body = '{"model":"claude-x","stream":true}';
  return [
    'POST /v1/messages HTTP/1.1',
    'Host: gateway',
    `X-Gateway-Key: ${proxy.key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    ...extra,
    '',
    body,
  ].join('\r\n');
}

test('a whole stream: outcome ok, the latest usage, the checkpoint before the ending and the end in the spool', async () => {
  provider.setAnswer(() =>
    buildAnswer({
      headers: STREAM_HEADERS,
      framing: 'chunked',
      body: START + DELTA + END,
      cuts: [START.length, START.length + 20],
    }),
  );
  const answer = await readRawAnswer('127.0.0.1', proxy.port, messagesRequest());
  expect(answer.end).toBe('complete');
  expect(answer.body.toString()).toBe(START + DELTA + END);
  const { begin, end } = await proxy.lastCall();
  expect(begin).toMatchObject({
    provider: 'anthropic',
    endpoint: 'messages',
    modelRequested: 'claude-x',
    streamed: true,
    keyId: 7,
  });
  expect(end).toMatchObject({
    outcome: 'ok',
    status: 200,
    model: 'claude-x',
    usageSource: 'provider',
    responseBytes: answer.body.length,
  });
  expect(end.usage?.classes).toMatchObject({ input: 9, output: 16 });
  const mine = (await proxy.entries()).filter(
    (entry) => ('begin' in entry ? entry.begin.id : 'body' in entry ? entry.body.id : entry.checkpoint.id) === begin.id,
  );
  const kinds = mine.map((entry) => entry.type);
  expect(kinds[0]).toBe('begin');
  expect(kinds.at(-1)).toBe('end');
  expect(kinds.filter((kind) => kind === 'body')).toHaveLength(2);
  const checkpoints = mine.filter((entry) => entry.type === 'checkpoint');
  expect(checkpoints.at(-1)?.checkpoint.reading.terminal).toBe(true);
});

test('usage that comes soon after other usage is in the spool, too, before the client has it', async () => {
  provider.setAnswer(() =>
    buildAnswer({
      headers: STREAM_HEADERS,
      framing: 'chunked',
      body: START + DELTA + END,
      // Between the usage and the ending behind it.
      cuts: [START.length, (START + DELTA + END).lastIndexOf('event: message_stop')],
      delayMs: 30,
    }),
  );
  await readRawAnswer('127.0.0.1', proxy.port, messagesRequest());
  const { begin } = await proxy.lastCall();
  const readings = (await proxy.entries()).flatMap((entry) =>
    entry.type === 'checkpoint' && entry.checkpoint.id === begin.id ? [entry.checkpoint.reading] : [],
  );
  expect(readings.map(({ usage, terminal }) => [usage?.classes.output, terminal])).toEqual([
    [undefined, false],
    [16, false],
    [16, true],
  ]);
});

test('a provider that cuts its stream: the client gets the bytes so far and no clean ending; usage so far is kept', async () => {
  provider.setAnswer(() => [
    ...buildAnswer({
      headers: STREAM_HEADERS,
      framing: 'chunked',
      body: START + DELTA,
      cuts: [START.length],
      resetAt: { bodyWrites: 2 },
      delayMs: 20,
    }),
  ]);
  const answer = await readRawAnswer('127.0.0.1', proxy.port, messagesRequest());
  expect(answer.end).not.toBe('complete');
  expect(answer.body.toString()).toBe(START + DELTA);
  const { end } = await proxy.lastCall();
  expect(end).toMatchObject({ outcome: 'upstream_truncated', status: 200, usageSource: 'partial' });
  // The output that a stream begins with stands in the place of what is to come.
  expect(end.usage?.classes).toEqual({ input: 9 });
});

test('a provider that cuts a body of declared length: the client sees a short body', async () => {
  provider.setAnswer(() => [
    { write: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789' },
    { waitMs: 20 },
    { end: true },
  ]);
  const answer = await readRawAnswer('127.0.0.1', proxy.port, messagesRequest());
  expect(answer.end).not.toBe('complete');
  expect(answer.body.toString()).toBe('0123456789');
  expect((await proxy.lastCall()).end.outcome).toBe('upstream_truncated');
});

test('an HTTP/1.0 client, whose answer ends with the connection, gets a reset for a cut', async () => {
  provider.setAnswer(() => [
    { write: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n' },
    { waitMs: 50 },
    { reset: true },
  ]);
  const answer = await readRawAnswer('127.0.0.1', proxy.port, messagesRequest().replace('HTTP/1.1', 'HTTP/1.0'));
  expect(answer.end).toBe('reset');
});

test.each([['before its head', 'before-headers' as const, 502, 'upstream_unreachable']])(
  'a provider that resets %s: a 502 of the gateway, recorded',
  async (_, resetAt, status, code) => {
    provider.setAnswer(() => buildAnswer({ resetAt }));
    const answer = await readRawAnswer('127.0.0.1', proxy.port, messagesRequest());
    expect(answer.status).toBe(status);
    expect(answer.rawHeaders).toContain(code);
    const { end } = await proxy.lastCall();
    expect(end).toMatchObject({
      outcome: 'upstream_unreachable',
      status,
      usage: null,
      usageSource: 'none',
      errorType: code,
    });
  },
);

test('an error event inside a 200 passes and is the outcome; the status stays 200', async () => {
  const error = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
  provider.setAnswer(() => buildAnswer({ headers: STREAM_HEADERS, framing: 'chunked', body: START + error }));
  const answer = await readRawAnswer('127.0.0.1', proxy.port, messagesRequest());
  expect(answer.body.toString()).toBe(START + error);
  expect((await proxy.lastCall()).end).toMatchObject({
    outcome: 'upstream_stream_error',
    status: 200,
    errorType: 'overloaded_error',
    errorMessage: 'Overloaded',
  });
});

test('a client that leaves mid-stream: the provider’s connection is closed, usage so far is kept', async () => {
  provider.setAnswer(() => [
    ...buildAnswer({ headers: STREAM_HEADERS, framing: 'chunked', body: START + DELTA, cuts: [START.length] }).slice(
      0,
      -1,
    ),
    { waitMs: 30_000 },
  ]);
  const seen = provider.requests.length;
  await readRawAnswer('127.0.0.1', proxy.port, messagesRequest(), {
    onBody: (bytes, abort) => (bytes >= START.length ? abort() : undefined),
  });
  await (await provider.waitForRequest(seen)).closed;
  const { end } = await proxy.lastCall();
  expect(end).toMatchObject({ outcome: 'client_closed', usageSource: 'partial' });
  expect(end.usage?.classes).toMatchObject({ input: 9 });
});

test('a client that leaves before the answer began: the provider’s connection is closed', async () => {
  provider.setAnswer(() => [{ waitMs: 30_000 }]);
  const seen = provider.requests.length;
  const socket = connect(proxy.port, '127.0.0.1');
  socket.write(messagesRequest());
  const request = await provider.waitForRequest(seen);
  socket.destroy();
  await request.closed;
  expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'client_closed', status: null, usage: null });
});

test('a client that leaves while its call is being written down: nothing goes to the provider', async () => {
  const slow = await startProxy(provider.origin);
  try {
    const { spool } = slow.gateway;
    const written = Promise.withResolvers<() => void>();
    const begin: typeof spool.begin = (record, done) =>
      spool.begin(record, (kept) => written.resolve(() => done(kept)));
    Object.assign(slow.gateway, { spool: { ...spool, begin } });
    const closed = new Promise((resolve) => {
      slow.server.once('connection', (socket) => socket.once('close', resolve));
    });
    const seen = provider.requests.length;
    const socket = connect(slow.port, '127.0.0.1');
    socket.write(messagesRequest().replace(proxy.key, slow.key));
    const goOn = await written.promise;
    socket.destroy();
    await closed;
    goOn();
    expect((await slow.lastCall()).end).toMatchObject({ outcome: 'client_closed', status: null, usage: null });
    expect(provider.requests.length).toBe(seen);
  } finally {
    await slow.close();
  }
});

test('a client that leaves in the middle of a large body: the provider never sees a whole request', async () => {
  const seen = provider.requests.length;
  const socket = connect(proxy.port, '127.0.0.1');
  socket.write(
    `POST /v1/files HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\nContent-Length: 3000000\r\n\r\n${'x'.repeat(1_000_000)}`,
  );
  while (provider.requests.length === seen) await new Promise((resolve) => setTimeout(resolve, 5));
  socket.destroy();
  const request = provider.requests.at(-1);
  await request?.closed;
  expect(request?.isWhole()).toBe(false);
  expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'client_closed', status: null, usage: null });
});

test('with on_client_abort=drain the rest of the answer is read for its usage', async () => {
  const draining = await startProxy(provider.origin, { onClientAbort: 'drain' });
  try {
    provider.setAnswer(() => [
      ...buildAnswer({
        headers: STREAM_HEADERS,
        framing: 'chunked',
        body: START + DELTA + END,
        cuts: [START.length],
        delayMs: 30,
      }),
    ]);
    const request = messagesRequest().replace(proxy.key, draining.key);
    await readRawAnswer('127.0.0.1', draining.port, request, { onBody: (_, abort) => abort() });
    const { end } = await draining.lastCall();
    expect(end).toMatchObject({ outcome: 'client_closed', usageSource: 'provider' });
    expect(end.usage?.classes).toMatchObject({ input: 9, output: 16 });
  } finally {
    await draining.close();
  }
});

test('a slow client slows the provider down: memory does not grow with the answer', async () => {
  const block = Buffer.alloc(64 * 1024, 'x');
  let isTaken = 0;
  provider.setAnswer(() => [
    { write: `HTTP/1.1 200 OK\r\nContent-Length: ${block.length * 1_000}\r\n\r\n` },
    ...Array.from({ length: 1_000 }, () => ({ write: block })),
  ]);
  const socket = connect(proxy.port, '127.0.0.1');
  socket.write(messagesRequest());
  socket.pause();
  await new Promise((resolve) => setTimeout(resolve, 500));
  const [open] = proxy.gateway.openCalls;
  isTaken = open !== undefined && 'responseBytes' in open ? Number(open.responseBytes) : -1;
  socket.destroy();
  expect(isTaken).toBeGreaterThan(0);
  expect(isTaken).toBeLessThan(32 * 1024 * 1024);
});

test('refusals: one readable body, its code in a header, no retry where it is useless, and a reported attempt', async () => {
  const bare = ['GET /v1/models HTTP/1.1', 'Host: a', '', ''].join('\r\n');
  const answer = await readRawAnswer('127.0.0.1', proxy.port, bare);
  expect(answer.status).toBe(401);
  const at = answer.rawHeaders.indexOf('X-Gateway-Error');
  expect(answer.rawHeaders[at + 1]).toBe('key_missing');
  expect(answer.rawHeaders).toContain('x-should-retry');
  const body = JSON.parse(answer.body.toString());
  expect(body).toMatchObject({
    type: 'error',
    error: { type: 'authentication_error', code: 'key_missing', status: 'UNAUTHENTICATED' },
  });
  expect(body.message).toBe(body.error.message);
  expect(proxy.attempts.at(-1)).toMatchObject({ code: 'key_missing', status: 401, method: 'GET', path: '/v1/models' });
});

test('a refusal of a request with a large body is readable, and the next request on the connection is not run', async () => {
  const seen = provider.requests.length;
  const answer = await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    Buffer.concat([
      Buffer.from('POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n'),
      Buffer.alloc(300_000, 'x'),
      Buffer.from(messagesRequest()),
    ]),
  );
  expect(answer.status).toBe(401);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(provider.requests.length).toBe(seen);
});

test.each([
  ['X-Gateway-Key: nonsense', 'key_malformed'],
  [`X-Gateway-Key: tgk_${'0'.repeat(49)}`, 'key_malformed'],
])('the key %s is refused with %s', async (header, code) => {
  const answer = await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    `GET /v1/models HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`,
  );
  expect(answer.rawHeaders).toContain(code);
});

test('a client that waits for 100-continue gets it only with a good key', async () => {
  provider.setAnswer(() => buildAnswer({ body: '{}' }));
  const body = '{"model":"m"}';
  const answer = await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  expect(answer.status).toBe(200);
  expect(answer.informational).toHaveLength(1);
  expect(provider.requests.at(-1)?.header('expect')).toBeNull();
  const refused = await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    'POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n',
  );
  expect(refused.status).toBe(401);
  expect(refused.informational).toHaveLength(0);
});

test('garbage gets a 400, CONNECT a 405', async () => {
  const read = (bytes: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(proxy.port, '127.0.0.1');
      let text = '';
      socket.setEncoding('latin1').on('data', (part) => {
        text += part;
      });
      socket.on('close', () => resolve(text));
      socket.write(bytes);
    });
  expect(await read('garbage\r\n\r\n')).toContain('400 request_malformed');
  expect(await read('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')).toContain('405 method_unsupported');
});

test('headers up to 64 KiB pass, above they are refused with 431', async () => {
  provider.setAnswer(() => buildAnswer({ body: '{}' }));
  const request = (bytes: number): string =>
    `GET /v1/models HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\nConnection: close\r\nX-Long: ${'x'.repeat(bytes)}\r\n\r\n`;
  expect((await readRawAnswer('127.0.0.1', proxy.port, request(60_000))).status).toBe(200);
  expect((await readRawAnswer('127.0.0.1', proxy.port, request(70_000))).status).toBe(431);
});

test('no credential is in what was recorded', async () => {
  provider.setAnswer(() => buildAnswer({ body: '{}' }));
  await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    `GET /v1beta/models/x?alt=sse&key=CANARY-1&access_token=CANARY-2 HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\nAuthorization: Bearer CANARY-3\r\nx-api-key: CANARY-4\r\nx-goog-api-key: CANARY-5\r\nCookie: CANARY-6\r\n\r\n`,
  );
  expect(provider.requests.at(-1)?.target).toContain('key=CANARY-1');
  const { begin } = await proxy.lastCall();
  expect(begin.path).toBe('/v1beta/models/x?alt=sse&key=***&access_token=***');
  const written = JSON.stringify(await proxy.entries());
  expect(written).not.toContain('CANARY');
  expect(written).not.toContain(proxy.key);
});
