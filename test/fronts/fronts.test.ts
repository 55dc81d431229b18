/** The shipped files of deploy/front in the programs that they are for: what clients and providers send goes through as it is. */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { asRecord, waitUntil } from '../gateway/start-gateway.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { checkFront, DASHBOARD_NAME, GATEWAY_NAME } from './front.ts';
import { installedFronts, openFrontStage } from './front-stage.ts';
import { openCall } from './open-call.ts';

const kinds = installedFronts();
const stage = openFrontStage(kinds);
const names = kinds.map(({ name }) => name);
const routes = kinds.flatMap(({ name, versions }) => versions.map((version) => [name, version] as const));

const JSON_BODY = '{"model":"gpt-4o-mini","stream":true,"messages":[]}';
const CHAT = {
  path: '/v1/chat/completions',
  headers: { 'content-type': 'application/json' },
  body: JSON_BODY,
} as const;
/** Of no format that the gateway looks into, so that it sends on what it gets. */
const FILES = { path: '/v1/files', headers: { 'content-type': 'application/octet-stream' } } as const;

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function lastRequest() {
  const request = stage().provider.requests.at(-1);
  if (request === undefined) throw new Error('no request came');
  return request;
}

test.each(kinds)('$name accepts the file', (kind) => {
  checkFront(kind, { port: 8_443, nodes: [4_141, 4_142], dashboard: 4_143 });
});

test.each(
  routes.flatMap(([name, version]) =>
    ['text/event-stream', 'application/json', 'application/vnd.amazon.eventstream'].map(
      (type) => [type, name, version] as const,
    ),
  ),
)(
  '%s comes through %s over %s piece by piece: each is there before the provider sends the next',
  async (type, name, version) => {
    const seen = Array.from({ length: 10 }, () => Promise.withResolvers<void>());
    const head = buildAnswer({ headers: [['Content-Type', type]], framing: 'chunked' }).slice(0, 1);
    const events = seen.flatMap(({ promise }, index) => [
      { write: `c\r\ndata: ${String(index).padStart(4, '0')}\n\n\r\n` },
      { waitFor: promise },
    ]);
    stage().provider.setAnswer(() => [...head, ...events, { write: '0\r\n\r\n' }]);
    const answer = await stage().open(stage().front(name), { ...CHAT, version }).answer;
    for (const [index, { resolve }] of seen.entries()) {
      expect(String(await answer.next())).toBe(`data: ${String(index).padStart(4, '0')}\n\n`);
      resolve();
    }
    expect(await answer.next()).toBe(null);
    expect(answer.status).toBe(200);
  },
);

/** Caddy before 2.8 ends it as if it were whole; docs/in-front.md says so. */
function passesCutsOn(name: string): boolean {
  const caddy = kinds.find((kind) => kind.name === 'Caddy');
  if (caddy?.name !== name) return true;
  return !/^v?2\.[0-7]\./.test(execFileSync(caddy.program, [caddy.versionArgument], { encoding: 'utf8' }));
}

test.each(routes)('an answer that the provider cuts does not look whole through %s over %s', async (name, version) => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n';
  stage().provider.setAnswer(() => [{ write: head }, { waitMs: 100 }, { reset: true }]);
  const answer = await stage().open(stage().front(name), { ...FILES, body: 'x', version }).answer;
  const end = await answer.whole().then(String, () => 'cut');
  expect(end).toBe(passesCutsOn(name) ? 'cut' : 'hello');
});

test.each(names)('a websocket through %s carries text and 1 MiB of bytes, both ways', async (name) => {
  const { nodes, front } = stage();
  const client = new WebSocket(`wss://127.0.0.1:${front(name).port}/v1/realtime?model=gpt-realtime`, {
    ...{ servername: GATEWAY_NAME, rejectUnauthorized: false },
    headers: { host: GATEWAY_NAME, 'x-gateway-key': nodes[0].key, 'x-gateway-provider-alias': 'voice' },
  });
  await once(client, 'open');
  const bytes = randomBytes(1024 * 1024);
  for (const message of ['hello', bytes]) {
    const echoed = once(client, 'message');
    client.send(message);
    const [data] = await echoed;
    expect(digest(Buffer.from(data))).toBe(digest(Buffer.from(message)));
  }
  client.close(1000);
  expect((await once(client, 'close'))[0]).toBe(1000);
});

test.each(routes)(
  '10 MB go through %s over %s byte for byte, both ways, with and without a length',
  async (name, version) => {
    const [up, down] = [randomBytes(10_000_000), randomBytes(10_000_000)];
    for (const framing of ['length', 'chunked'] as const) {
      stage().provider.setAnswer(() => buildAnswer({ body: down, framing }));
      const headers = framing === 'length' ? { 'content-length': String(up.length) } : {};
      const call = stage().open(stage().front(name), { ...FILES, headers: { ...FILES.headers, ...headers }, version });
      call.send.end(up);
      const answer = await call.answer;
      expect(digest(await answer.whole())).toBe(digest(down));
      expect(digest(lastRequest().body())).toBe(digest(up));
    }
  },
);

test.each(routes)('a body goes through %s over %s while it is still coming', async (name, version) => {
  const { provider, open, front } = stage();
  provider.setAnswer(() => buildAnswer({ body: '{}' }));
  const before = provider.requests.length;
  const call = open(front(name), { ...FILES, version });
  call.send.write(randomBytes(1_000_000));
  await waitUntil('the first half is there', () =>
    provider.requests[before]?.body().length === 1_000_000 ? true : undefined,
  );
  call.send.end(randomBytes(500_000));
  expect((await call.answer).status).toBe(200);
  expect(lastRequest().body().length).toBe(1_500_000);
});

test.each(routes)('headers with _ and . and 15 KB of metadata go through %s over %s', async (name, version) => {
  const { provider, nodes, open, front } = stage();
  provider.setAnswer(() => buildAnswer({ body: '{}' }));
  const metadata = Object.fromEntries(
    Array.from({ length: 15 }, (_, index) => [`x-gateway-m${index}`, String(index).repeat(1_000).slice(0, 1_000)]),
  );
  const path = Array.from({ length: 100 }, (_, index) => `a-step-of-the-run-with-a-rather-long-name-${index}`).join(
    '/',
  );
  const own = { session_id: 'one', 'x-dotted.name': 'two', 'x-gateway-trace-id': 'large', 'x-gateway-span-path': path };
  const answer = await open(front(name), { ...CHAT, version, headers: { ...CHAT.headers, ...metadata, ...own } })
    .answer;
  await answer.whole();
  expect(answer.status).toBe(200);
  expect([lastRequest().header('session_id'), lastRequest().header('x-dotted.name')]).toEqual(['one', 'two']);
  const row = await nodes[0].waitForLog(answer.header('x-gateway-request-id') ?? '');
  // A proxy may spell names as it likes.
  const kept = Object.entries(asRecord(row['raw_metadata'])).map(([key, value]) => [key.toLowerCase(), value]);
  expect(row['trace_id']).toBe('large');
  expect(Object.fromEntries(kept)).toMatchObject({ m7: '7'.repeat(1_000), m14: metadata['x-gateway-m14'] });
});

test.each(routes)(
  'a head of 20 KB of the answer, its date and its server come through %s over %s',
  async (name, version) => {
    const large = 'v'.repeat(1_000);
    const many = Array.from({ length: 20 }, (_, index) => [`X-Large-${index}`, large] as const);
    const fixed = [['Server', 'cloudflare'] as const, ['Date', 'Tue, 03 Nov 2026 10:00:00 GMT'] as const];
    stage().provider.setAnswer(() =>
      buildAnswer({ headers: [...fixed, ...many, ['X-Accel-Redirect', '/v1/models']], body: '{}' }),
    );
    const answer = await stage().open(stage().front(name), { ...CHAT, version }).answer;
    expect(String(await answer.whole())).toBe('{}');
    expect(answer.header('date')).toBe('Tue, 03 Nov 2026 10:00:00 GMT');
    // Caddy puts its own name before it.
    if (name !== 'Caddy') expect(answer.header('server')).toBe('cloudflare');
    expect(answer.header('x-large-19')).toBe(large);
  },
);

test.each(routes)('429 with retry-after comes through %s over %s, after one call', async (name, version) => {
  const headers = [
    ['Retry-After', '17'],
    ['Content-Type', 'application/json'],
  ] as const;
  stage().provider.setAnswer(() =>
    buildAnswer({ status: 429, reason: 'Too Many Requests', headers, body: '{"error":1}' }),
  );
  const id = `limited-${name}-${version}`;
  const call = { ...CHAT, version, headers: { ...CHAT.headers, 'x-call-id': id } };
  const answer = await stage().open(stage().front(name), call).answer;
  expect([answer.status, answer.header('retry-after'), String(await answer.whole())]).toEqual([
    429,
    '17',
    '{"error":1}',
  ]);
  expect(stage().provider.ledger.get(id)).toBe(1);
});

test.each(routes)('what the gateway refuses while a body is coming comes through %s over %s', async (name, version) => {
  const call = stage().open(stage().front(name), {
    ...FILES,
    version,
    headers: { ...FILES.headers, 'x-gateway-key': 'none' },
  });
  call.send.on('error', () => {});
  call.send.write(randomBytes(100_000));
  const answer = await call.answer;
  expect([answer.status, answer.header('x-gateway-error')]).toEqual([401, 'key_malformed']);
});

test.each(names)('a client of %s that waits for "100 Continue" gets it, and its body arrives', async (name) => {
  stage().provider.setAnswer(() => buildAnswer({ body: '{}' }));
  const headers = { ...FILES.headers, 'content-length': '5', expect: '100-continue' };
  const call = stage().open(stage().front(name), { ...FILES, version: 'HTTP/1.1', headers });
  await once(call.send, 'continue');
  call.send.end('bytes');
  expect((await call.answer).status).toBe(200);
  expect(String(lastRequest().body())).toBe('bytes');
});

test.each(routes)(
  'a client that goes away ends its call, through %s over %s, before the answer and within it',
  async (name, version) => {
    const { provider, open, front } = stage();
    const never = Promise.withResolvers<void>();
    const first = buildAnswer({ headers: [['Content-Type', 'text/event-stream']], framing: 'chunked' }).slice(0, 1);
    for (const answer of [
      [{ waitFor: never.promise }],
      [...first, { write: '9\r\ndata: 1\n\n\r\n' }, { waitFor: never.promise }],
    ]) {
      provider.setAnswer(() => answer);
      const before = provider.requests.length;
      const call = open(front(name), { ...CHAT, version });
      await provider.waitForRequest(before);
      if (answer.length > 1) expect(String(await (await call.answer).next())).toBe('data: 1\n\n');
      call.abort();
      await lastRequest().closed;
    }
    never.resolve();
  },
);

test.each(routes)(
  'the address of a client of %s over %s is recorded, whatever the client says it is',
  async (name, version) => {
    const { provider, nodes, open, front } = stage();
    provider.setAnswer(() => buildAnswer({ body: '{}' }));
    const headers = { ...CHAT.headers, 'x-forwarded-for': '203.0.113.7' };
    const answer = await open(front(name), { ...CHAT, version, from: '127.0.0.9', headers }).answer;
    await answer.whole();
    expect(await nodes[0].waitForLog(answer.header('x-gateway-request-id') ?? '')).toMatchObject({
      client_address: '127.0.0.9',
    });
    // The provider is told nothing of it.
    expect(lastRequest().rawHeaders.filter((text) => /forwarded|via|127\.0\.0\.9/i.test(text))).toEqual([]);
  },
);

test.each(routes)(
  'the dashboard behind %s over %s: its pages, a sign-in by link, a cookie for TLS only, a live stream',
  async (name, version) => {
    const { nodes, front } = stage();
    const dashboard = { port: front(name).port, version, name: DASHBOARD_NAME } as const;
    const health = await openCall({ ...dashboard, method: 'GET', path: '/healthz', body: '' }).answer;
    expect(health.status).toBe(200);
    const link = new URL(String(asRecord(await nodes[0].api('/api/v1/login-links', { method: 'POST' }))['url']));
    expect(link.origin).toBe(`https://${DASHBOARD_NAME}`);
    const page = { origin: link.origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
    const body = JSON.stringify({ code: link.hash.replace('#code=', '') });
    const session = await openCall({ ...dashboard, path: '/api/v1/session', headers: page, body }).answer;
    expect(session.status).toBeLessThan(300);
    const cookie = session.header('set-cookie') ?? '';
    expect(cookie).toMatch(/; Secure/i);
    const own = { cookie: cookie.split(';')[0] ?? '', 'sec-fetch-site': 'same-origin' };
    const get = { ...dashboard, method: 'GET', headers: own, body: '' } as const;
    expect((await openCall({ ...get, path: '/api/v1/status' }).answer).status).toBe(200);
    const live = openCall({ ...get, path: '/api/v1/logs/stream' });
    const stream = await live.answer;
    expect([stream.status, stream.header('content-type')]).toEqual([200, 'text/event-stream']);
    const first = stream.next();
    const called = await stage().open(front(name), { ...CHAT, version }).answer;
    await called.whole();
    expect(String(await first).length).toBeGreaterThan(0);
    live.abort();
  },
);
