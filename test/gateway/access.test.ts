/** Who may use the admin port, and how a browser signs in: on a whole gateway with the real dashboard, over sockets. */
import { spawnSync } from 'node:child_process';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asRecord, makeDataDir, readAdminFile, startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

const root = join(import.meta.dirname, '..', '..');
const dataDir = makeDataDir();
let gateway: TestGateway;

beforeAll(async () => {
  const built = spawnSync(process.execPath, [join(root, 'scripts', 'build-dashboard.mjs')], { stdio: 'inherit' });
  expect(built.status).toBe(0);
  gateway = await startGateway({ dataDir, env: { TOLLGATE_PUBLIC_URL: 'https://gate.example.com' } });
});
afterAll(() => gateway.stop());

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly content: Buffer;
}

interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Sends the path as it is, and nothing that is not asked for: `fetch` tidies paths up and adds headers. */
function ask(path: string, { method = 'GET', headers = {}, body }: Question = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = body === undefined ? headers : { 'content-type': 'application/json', ...headers };
  const options = { host: '127.0.0.1', port: gateway.adminPort, path, method, headers: sent };
  const request = httpRequest(options, async (response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    resolve({ status: response.statusCode ?? 0, headers: response.headers, content: Buffer.concat(chunks) });
  });
  request.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}

async function statusOf(path: string, question: Question = {}): Promise<number> {
  return (await ask(path, question)).status;
}

async function outcome(path: string, question: Question = {}): Promise<string> {
  const { status, content } = await ask(path, question);
  return `${status} ${String(asRecord(asRecord(JSON.parse(content.toString()))['error'])['code'])}`;
}

async function createCode(): Promise<string> {
  const { url } = asRecord(await gateway.api('/api/v1/login-links', { method: 'POST' }));
  const [page, code = ''] = String(url).split('#code=');
  expect(page).toBe(`${gateway.adminBase}/login`);
  return code;
}

/** What the browser sends from then on. */
async function signIn(): Promise<string> {
  const answer = await ask('/api/v1/session', { method: 'POST', body: { code: await createCode() } });
  expect(answer.status).toBe(204);
  return String(answer.headers['set-cookie']?.[0]).split(';')[0] ?? '';
}

function bearer(): Record<string, string> {
  return { authorization: `Bearer ${readAdminFile(dataDir).token}` };
}

test('the start prints a link whose code signs one browser in, once', async () => {
  const code = await waitUntil(
    'the link',
    () => /Dashboard +(\S+)\/login#code=([\w-]{43})\n/.exec(gateway.output())?.[2],
  );
  expect(await statusOf('/login')).toBe(200);
  const answer = await ask('/api/v1/session', { method: 'POST', body: { code } });
  expect([answer.status, answer.content.length]).toEqual([204, 0]);
  expect(answer.headers['set-cookie']).toEqual([
    expect.stringMatching(/^tollgate_session=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/),
  ]);
  expect(await outcome('/api/v1/session', { method: 'POST', body: { code } })).toBe('401 code_invalid');
});

test('`tollgate login` prints another', async () => {
  const run = spawnSync(process.execPath, [join(root, 'src/main.ts'), 'login', '--data-dir', dataDir], {
    encoding: 'utf8',
  });
  expect(run.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/login#code=[\w-]{43}\n$/);
  const code = run.stdout.trim().split('#code=')[1];
  expect(await statusOf('/api/v1/session', { method: 'POST', body: { code } })).toBe(204);
});

test('a wrong code, no proof and two proofs sign nobody in', async () => {
  const code = await createCode();
  for (const [body, expected] of [
    [{ code: `${code}x` }, '401 code_invalid'],
    [{}, '400 invalid_request'],
    [{ code, token: 'x' }, '400 invalid_request'],
    [{ code: [code] }, '400 invalid_request'],
  ] as const)
    expect(await outcome('/api/v1/session', { method: 'POST', body })).toBe(expected);
  expect(await statusOf('/api/v1/session', { method: 'POST', body: { code } })).toBe(204);
});

test('under the public name the cookie goes over TLS only, and the link leads there', async () => {
  const host = 'gate.example.com';
  const headers = { host, origin: `https://${host}` };
  const answer = await ask('/api/v1/session', { method: 'POST', headers, body: { code: await createCode() } });
  expect(answer.headers['set-cookie']?.[0]).toMatch(/; HttpOnly; Secure; SameSite=Strict$/);
  const link = await ask('/api/v1/login-links', { method: 'POST', headers: { host, ...bearer() } });
  expect(JSON.parse(link.content.toString())).toMatchObject({
    url: expect.stringMatching(/^https:\/\/gate\.example\.com\/login#/),
  });
});

test('a session reads and changes from our own pages, and from nowhere else', async () => {
  const cookie = await signIn();
  expect(await statusOf('/api/v1/session', { headers: { cookie } })).toBe(200);
  expect(await statusOf('/api/v1/keys', { headers: { cookie, 'sec-fetch-site': 'same-origin' } })).toBe(200);
  const create = (headers: Record<string, string>) =>
    ask('/api/v1/keys', { method: 'POST', headers: { cookie, ...headers }, body: { name: 'by cookie' } });
  expect((await create({ origin: gateway.adminBase })).status).toBe(201);
  for (const headers of [
    {},
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `http://127.0.0.1:${gateway.port}` },
    { origin: gateway.adminBase, 'sec-fetch-site': 'same-site' },
    { origin: gateway.adminBase, 'sec-fetch-site': 'cross-site' },
  ])
    expect({ headers, status: (await create(headers)).status }).toEqual({ headers, status: 403 });
  for (const site of ['same-site', 'cross-site'])
    expect(await outcome('/api/v1/keys', { headers: { cookie, 'sec-fetch-site': site } })).toBe('403 origin_forbidden');
});

test('a foreign page can’t sign a browser in', async () => {
  const headers = { origin: 'https://evil.example' };
  expect(await outcome('/api/v1/session', { method: 'POST', headers, body: { code: 'x' } })).toBe(
    '403 origin_forbidden',
  );
});

test('signing out takes the cookie away, and ends every copy of it', async () => {
  const cookie = await signIn();
  const answer = await ask('/api/v1/session', { method: 'DELETE', headers: { cookie, origin: gateway.adminBase } });
  expect([answer.status, answer.headers['set-cookie']]).toEqual([
    204,
    ['tollgate_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict'],
  ]);
  expect(await outcome('/api/v1/session', { headers: { cookie: 'tollgate_session=' } })).toBe('401 unauthorized');
  // A copy of it is of no use either.
  expect(await outcome('/api/v1/session', { headers: { cookie } })).toBe('401 unauthorized');
});

test('the admin token works as before, and a wrong one is not mended by a cookie', async () => {
  const cookie = await signIn();
  expect(await statusOf('/api/v1/keys', { headers: bearer() })).toBe(200);
  expect(await statusOf('/api/v1/keys', { method: 'POST', headers: bearer(), body: { name: 'by token' } })).toBe(201);
  expect(await outcome('/api/v1/keys', { headers: { cookie, authorization: 'Bearer wrong' } })).toBe(
    '401 unauthorized',
  );
});

test('everything under /api needs credentials but signing in; a gateway key is none', async () => {
  for (const headers of [{}, { authorization: `Bearer ${gateway.key}` }, { cookie: 'tollgate_session=1.2.3' }])
    for (const [method, path] of [
      ['GET', '/api/v1/session'],
      ['DELETE', '/api/v1/session'],
      ['POST', '/api/v1/login-links'],
      ['GET', '/api/v1/logs'],
      ['GET', '/api/v1/openapi.json'],
      ['GET', '/api/v1/nothing'],
      ['GET', '/api'],
    ] as const)
      expect(await outcome(path, { method, headers })).toBe('401 unauthorized');
});

test('the dashboard is served to anyone, compressed, and with nothing to send twice', async () => {
  const page = await ask('/runs', { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' } });
  const html = page.content.toString();
  expect(page.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'content-security-policy':
      "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  });
  expect(html).not.toMatch(/<script(?![^>]*src=)/);

  const script = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? 'none';
  const get = (accepted: string, more: Record<string, string> = {}) =>
    ask(script, { headers: { 'accept-encoding': accepted, ...more } });
  const [plain, gzip, br] = [await get('identity'), await get('gzip'), await get('gzip, deflate, br, zstd')];
  expect([plain, gzip, br].map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'gzip', 'br']);
  expect(gunzipSync(gzip.content).equals(plain.content)).toBe(true);
  expect(brotliDecompressSync(br.content).equals(plain.content)).toBe(true);
  expect(br.headers['content-length']).toBe(String(br.content.length));
  expect(br.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  const again = await get('br', { 'if-none-match': String(br.headers.etag) });
  expect([again.status, again.content.length, again.headers.etag]).toEqual([304, 0, br.headers.etag]);
  const head = await ask(script, { method: 'HEAD' });
  expect([head.status, head.content.length]).toEqual([200, 0]);
});

test('no path leads out of the built files', async () => {
  for (const path of [
    '/assets/../../package.json',
    '/assets/..%2f..%2fpackage.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets/..\\..\\package.json',
    '/../package.json',
    '/.vite/manifest.json',
    '/.inputs',
    '/assets/',
    '//etc/passwd',
    '/src/main.ts',
  ])
    expect([path, [400, 401, 404].includes(await statusOf(path))]).toEqual([path, true]);
  expect(await statusOf('/assets/none.js')).toBe(404);
  expect(await statusOf('/no-such-page', { headers: { 'sec-fetch-mode': 'navigate' } })).toBe(404);
  expect(await outcome('/no-such-page', { headers: bearer() })).toBe('404 not_found');
});

test('answers of the API are compressed, and event streams are not', async () => {
  const headers = { ...bearer(), 'accept-encoding': 'gzip, br' };
  const document = await ask('/api/v1/openapi.json', { headers });
  expect([document.headers['content-encoding'], document.headers['cache-control']]).toEqual(['gzip', 'no-store']);
  expect(JSON.parse(gunzipSync(document.content).toString())).toMatchObject({ openapi: '3.1.0' });
  const ending = new AbortController();
  const stream = await fetch(`${gateway.adminBase}/api/v1/logs/stream`, { headers, signal: ending.signal });
  expect(stream.headers.get('content-encoding')).toBeNull();
  const first = await stream.body?.getReader().read();
  expect(new TextDecoder().decode(first?.value)).toBe(': following\n\n');
  ending.abort();
});

test('the status says the settings in force and where each came from', async () => {
  const { settings, spool } = asRecord(await gateway.api('/api/v1/status'));
  expect(settings).toContainEqual({ name: 'TOLLGATE_WORKERS', value: '1', source: 'environment' });
  expect(settings).toContainEqual({ name: 'TOLLGATE_BODIES', value: 'full', source: 'default' });
  expect(spool).toMatchObject({
    bytes: expect.any(Number),
    limit_bytes: expect.any(Number),
    is_disk_low: expect.any(Boolean),
  });
});

test('a session and a link outlive a restart; a session ends with the admin token', async () => {
  const cookie = await signIn();
  const code = await createCode();
  const { port, adminPort } = gateway;
  const restart = async (env: Record<string, string>) => {
    await gateway.stop({ remove: false });
    gateway = await startGateway({ dataDir, env, ports: { port, adminPort } });
  };
  await restart({});
  expect(await statusOf('/api/v1/session', { headers: { cookie } })).toBe(200);
  expect(await statusOf('/api/v1/session', { method: 'POST', body: { code } })).toBe(204);
  expect(await waitUntil('a new link', () => /\/login#code=([\w-]{43})\n/.exec(gateway.output())?.[1])).not.toBe(code);
  await restart({ TOLLGATE_ADMIN_TOKEN: 'another-admin-token' });
  expect(await outcome('/api/v1/session', { headers: { cookie } })).toBe('401 unauthorized');
});

// The last one: nobody signs in by a short token for a minute after it, as the one is that the test before has set.
test('the token signs in too, until ten wrong ones in a minute; links and sessions work all the same, and it is told', async () => {
  const { token } = readAdminFile(dataDir);
  const cookie = await signIn();
  const code = await createCode();
  expect(await statusOf('/api/v1/session', { method: 'POST', body: { token } })).toBe(204);
  const wrong = { authorization: 'Bearer guess' };
  for (let attempt = 0; attempt < 5; attempt += 1) {
    expect(await outcome('/api/v1/session', { method: 'POST', body: { token: 'guess' } })).toBe('401 token_invalid');
    expect(await outcome('/api/v1/keys', { headers: wrong })).toBe('401 unauthorized');
  }
  const refused = await ask('/api/v1/session', { method: 'POST', body: { token } });
  expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
  expect(await outcome('/api/v1/keys', { headers: wrong })).toBe('429 too_many_attempts');
  expect(await outcome('/api/v1/keys', { headers: bearer() })).toBe('429 too_many_attempts');
  expect(await statusOf('/api/v1/session', { method: 'POST', body: { code } })).toBe(204);
  const status = await ask('/api/v1/status', { headers: { cookie } });
  expect(asRecord(JSON.parse(status.content.toString()))['access']).toMatchObject({
    wrong_tokens: 13,
    latest_wrong_token: { from: '127.0.0.1' },
  });
  expect(gateway.output()).toMatch(/"a wrong token was sent to the admin port/);
});
