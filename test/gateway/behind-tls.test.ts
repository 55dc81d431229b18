/**
 * Two gateways on one database behind a proxy that ends TLS, as Caddy does: whose calls they are, whose wrong tokens,
 * and how a browser signs in under the public name.
 */
import { createServer as createProvider, request as forward, type Server } from 'node:http';
import { createServer as createFront, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate } from '../proxy/make-certificate.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { runTollgate } from './run-tollgate.ts';
import { asRecord, startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

const NAME = 'gate.example.com';
const [kind] = POSTGRES_KINDS;
let database: TestPostgres;
let provider: Server;
let keeping: TestGateway;
let silent: TestGateway;
const fronts: Server[] = [];
const seen: string[][] = [];

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Passes the host on, and adds whom it has at its other end. */
async function startFront(port: number): Promise<number> {
  const front = createFront(makeCertificate(), (incoming, outgoing) => {
    const told = [incoming.headers['x-forwarded-for'], incoming.socket.remoteAddress].filter(
      (part) => part !== undefined,
    );
    const headers = { ...incoming.headers, 'x-forwarded-for': told.join(', '), 'x-forwarded-proto': 'https' };
    const { method, url: path } = incoming;
    const inner = forward({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(inner);
  });
  fronts.push(front);
  return listen(front);
}

interface Asked {
  readonly from: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: unknown;
}

/** From one of this machine's own addresses, of which only 127.0.0.1 is the proxy's. */
function ask(port: number, path: string, { from, headers = {}, method = 'GET', body }: Asked) {
  const options = {
    host: '127.0.0.1',
    port,
    path,
    method,
    localAddress: from,
    rejectUnauthorized: false,
    servername: NAME,
  };
  const sent = { host: NAME, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers };
  return new Promise<{ status: number; id: string; cookie: string }>((resolve, reject) => {
    const request = httpsRequest({ ...options, headers: sent }, (answer) => {
      const id = String(answer.headers['x-gateway-request-id']);
      const cookie = answer.headers['set-cookie']?.[0] ?? '';
      answer.resume().once('end', () => resolve({ status: answer.statusCode ?? 0, id, cookie }));
    });
    request.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

beforeAll(async () => {
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  database = await startPostgres(kind);
  provider = createProvider((request, response) => {
    seen.push(request.rawHeaders.filter((_, index) => index % 2 === 0));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[]}');
  });
  const env = {
    DATABASE_URL: await database.createDatabase('behind_tls'),
    TOLLGATE_UPSTREAM_OPENAI: `http://127.0.0.1:${await listen(provider)}`,
    TOLLGATE_TRUSTED_PROXIES: '127.0.0.1',
    TOLLGATE_ADMIN_PUBLIC_URL: `https://${NAME}/`,
  };
  keeping = await startGateway({ env: { ...env, TOLLGATE_NODE: 'keeping' } });
  silent = await startGateway({ env: { ...env, TOLLGATE_NODE: 'silent', TOLLGATE_CLIENT_ADDRESS: 'off' } });
});
afterAll(async () => {
  await Promise.all([keeping.stop(), silent.stop()]);
  for (const server of [provider, ...fronts]) {
    server.closeAllConnections();
    server.close();
  }
  await database.remove();
});

test('a call has its client’s address on a node that keeps it, and none on one that does not; both nodes show it', async () => {
  const invented = { 'x-gateway-key': keeping.key, 'x-forwarded-for': '198.51.100.1' };
  const front = await startFront(keeping.port);
  const { id } = await ask(front, '/v1/models', { from: '127.0.0.2', headers: invented });
  expect((await silent.waitForLog(id))['client_address']).toBe('127.0.0.2');
  const other = await ask(await startFront(silent.port), '/v1/models', { from: '127.0.0.2', headers: invented });
  expect((await keeping.waitForLog(other.id))['client_address']).toBeNull();
  for (const names of seen) expect(names.filter((name) => /forwarded/i.test(name))).toEqual([]);

  const shown = await runTollgate(keeping.dataDir, ['logs', id]);
  expect(shown.stdout).toMatch(/^address {6}127\.0\.0\.2$/m);
  expect(await keeping.api(`/api/v1/logs?f=client_address:eq:127.0.0.2&fields=id,node`)).toMatchObject({
    data: [{ id, node: 'keeping' }],
  });
});

test('a proxy that is not named is told of, once', async () => {
  for (const client of ['203.0.113.1', '203.0.113.2'])
    await new Promise<void>((resolve, reject) => {
      const headers = { 'x-forwarded-for': client };
      const options = { host: '127.0.0.1', port: silent.port, path: '/v1/models', localAddress: '127.0.0.9', headers };
      const request = forward(options, (answer) => answer.resume().once('end', () => resolve()));
      request.once('error', reject).end();
    });
  await waitUntil('the line', () => (silent.output().includes('does not name') ? true : undefined));
  expect(silent.output().split('TOLLGATE_TRUSTED_PROXIES does not name')).toHaveLength(2);
  expect(keeping.output()).not.toContain('does not name');
});

test('a refused attempt says where it came from', async () => {
  await ask(await startFront(keeping.port), '/v1/models', { from: '127.0.0.3' });
  const attempt = await waitUntil('the attempt', async () => {
    const { data } = asRecord(await keeping.api('/api/v1/attempts'));
    return Array.isArray(data) && data.length > 0 ? asRecord(data[0]) : undefined;
  });
  expect(attempt).toMatchObject({ code: 'key_missing', client_address: '127.0.0.3' });
  const { stdout } = await runTollgate(keeping.dataDir, ['doctor']);
  expect(stdout).toMatch(/refused: 1× key_missing \(latest \S+ from 127\.0\.0\.3 on \/v1\/models\)/);
});

test('the printed link leads to the public name, where it signs a browser in with a cookie for TLS only', async () => {
  const code = await waitUntil(
    'the link',
    () => /Dashboard +https:\/\/gate\.example\.com\/login#code=([\w-]{43})\n/.exec(keeping.output())?.[1],
  );
  const login = await runTollgate(keeping.dataDir, ['login']);
  expect(login.stdout).toMatch(/^https:\/\/gate\.example\.com\/login#code=[\w-]{43}\n$/);
  const front = await startFront(keeping.adminPort);
  const headers = { origin: `https://${NAME}`, 'sec-fetch-site': 'same-origin' };
  const signedIn = await ask(front, '/api/v1/session', { from: '127.0.0.2', method: 'POST', headers, body: { code } });
  expect(signedIn.status).toBe(204);
  expect(signedIn.cookie).toMatch(/; HttpOnly; Secure; SameSite=Strict$/);
  const cookie = signedIn.cookie.split(';')[0] ?? '';
  const asUser = { from: '127.0.0.2', headers: { ...headers, cookie } };
  expect((await ask(front, '/api/v1/session', asUser)).status).toBe(200);
  const body = { name: 'by cookie' };
  expect((await ask(front, '/api/v1/keys', { ...asUser, method: 'POST', body })).status).toBe(201);
  const foreign = { ...asUser, headers: { ...headers, cookie, origin: 'https://evil.example' } };
  expect((await ask(front, '/api/v1/keys', { ...foreign, method: 'POST', body })).status).toBe(403);
});

test('wrong tokens of one client behind the proxy make no other client wait', async () => {
  const front = await startFront(keeping.adminPort);
  const guess = (from: string, invented: string) =>
    ask(front, '/api/v1/session', {
      from,
      method: 'POST',
      body: { token: 'a guess' },
      headers: { origin: `https://${NAME}`, 'x-forwarded-for': invented },
    });
  const statuses: number[] = [];
  for (let index = 0; index < 11; index += 1) statuses.push((await guess('127.0.0.4', `198.51.100.${index}`)).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
  expect((await guess('127.0.0.5', '127.0.0.4')).status).toBe(401);
  expect(asRecord(await keeping.api('/api/v1/status'))['access']).toMatchObject({
    latest_wrong_token: { from: '127.0.0.5' },
  });
});
