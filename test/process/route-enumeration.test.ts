/**
 * Every route of the admin port, asked by who may not: from the application's own table of routes, so that a new route
 * is asked as well. Each answer must be a refusal; only a short list of what is open to anyone may answer otherwise.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import { type AdminServer, listenAdmin } from '../../src/control/admin/admin-server.ts';
import { OIDC_CALLBACK_PATH, PUBLIC_ROUTES } from '../../src/control/admin/guard.ts';
import { createGatewayKey } from '../../src/keys/gateway-key.ts';
import { asRecord } from '../gateway/start-gateway.ts';
import { bareAdminDeps } from '../support/admin-deps.ts';

const TOKEN = 'an-admin-token-of-thirty-two-chars';
const METRICS_TOKEN = 'a-token-for-the-metrics-alone';
const HOST = '127.0.0.1:4142';
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY'];
const app = createAdminApp(
  bareAdminDeps({ adminToken: TOKEN, metricsToken: METRICS_TOKEN, publicUrl: 'https://gate.example.com' }),
);
let server: AdminServer;
let cookie = '';

beforeAll(async () => {
  server = await listenAdmin(app, '127.0.0.1', 0);
  const body = JSON.stringify({ token: TOKEN });
  const answer = await ask('POST', '/api/v1/session', { 'content-type': 'application/json' }, body);
  cookie = String(answer.headers.get('set-cookie')).split(';')[0] ?? '';
});
afterAll(() => server.close());

function ask(method: string, path: string, headers: Record<string, string>, body?: string): Promise<Response> {
  const init = { method, headers: { host: HOST, ...headers }, ...(body === undefined ? {} : { body }) };
  return Promise.resolve(app.request(`http://${HOST}${path}`, init));
}

/** As the application has them, parameters filled in. */
function listRoutes(): { readonly method: string; readonly path: string }[] {
  const routes = app.routes.filter(({ method, path }) => method !== 'ALL' && !path.includes('*'));
  const filled = routes.map(({ method, path }) => `${method} ${path.replace(/:[A-Za-z]+(?:\{[^}]*\})?/g, '1')}`);
  return [...new Set(filled)].map((line) => {
    const [method = '', path = ''] = line.split(' ');
    return { method, path };
  });
}

const isPublic = (method: string, path: string) =>
  PUBLIC_ROUTES.includes(`${method === 'HEAD' ? 'GET' : method} ${path}`);

const METRICS = 'the token of the metrics';

/** What is asked with credentials that are none, and the status that each gets. */
function listAttackers(): readonly (readonly [string, Record<string, string>, readonly number[]])[] {
  const key = createGatewayKey();
  const bearer = { authorization: `Bearer ${TOKEN}` };
  return [
    ['nothing', {}, [401]],
    ['a gateway key as bearer', { authorization: `Bearer ${key}` }, [401]],
    ['a gateway key in its own header', { 'x-gateway-key': key }, [401]],
    [METRICS, { authorization: `Bearer ${METRICS_TOKEN}` }, [401]],
    ['a wrong token', { authorization: `Bearer ${TOKEN}x` }, [401]],
    ['a part of the token', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }, [401]],
    ['the token in another case', { authorization: `Bearer ${TOKEN.toUpperCase()}` }, [401]],
    ['the token under another scheme', { authorization: `Basic ${TOKEN}` }, [401]],
    ['the token in a header of a provider', { 'x-api-key': TOKEN }, [401]],
    ['the token as a cookie', { cookie: `tollgate_session=${TOKEN}` }, [401]],
    ['a made-up session', { cookie: 'tollgate_session=9999999999.abc.def' }, [401]],
    ['a session with a wrong token', { cookie, authorization: 'Bearer no' }, [401]],
    ['a session, from another site', { cookie, 'sec-fetch-site': 'cross-site' }, [403]],
    ['a session, from another port of the machine', { cookie, 'sec-fetch-site': 'same-site' }, [403]],
    ['a session, from another origin', { cookie, origin: 'https://evil.example' }, [403]],
    ['a session, from a page without an origin', { cookie, origin: 'null' }, [403]],
    ['a page of another site, with the token', { ...bearer, origin: 'https://evil.example' }, [403]],
    ['a page of another site, cross-site', { ...bearer, 'sec-fetch-site': 'cross-site' }, [403]],
    ['another host', { ...bearer, host: 'evil.example' }, [421]],
    ['a rebound name', { ...bearer, host: '127.0.0.1.nip.io:4142' }, [421]],
    ['a host with a path', { ...bearer, host: 'evil.example/#@127.0.0.1' }, [421]],
    ['a host with a user', { ...bearer, host: '127.0.0.1@evil.example' }, [421]],
    ['no host', { ...bearer, host: '' }, [421]],
    ['an address of the network', { ...bearer, host: '10.0.0.7:4142' }, [421]],
  ];
}

test('every route refuses who has no right to it', async () => {
  const routes = listRoutes();
  const documented = asRecord(
    asRecord(await (await ask('GET', '/api/v1/openapi.json', { authorization: `Bearer ${TOKEN}` })).json())['paths'],
  );
  expect(routes.length).toBeGreaterThanOrEqual(Object.keys(documented).length);
  const attackers = listAttackers();
  const wrong: string[] = [];
  let asked = 0;
  for (const { method, path } of routes) {
    for (const [who, headers, expected] of attackers) {
      // What is open to anyone is open to them, unless they come from another site or by another name.
      if (isPublic(method, path) && expected.includes(401)) continue;
      if (isPublic(method, path) && headers['sec-fetch-site'] === 'same-site') continue;
      // The identity provider, another site, sends browsers there; it asks for what it gave this browser.
      if (path === OIDC_CALLBACK_PATH && method === 'GET' && headers['sec-fetch-site'] === 'cross-site') continue;
      if (who === METRICS && path === '/metrics') continue;
      const { status } = await ask(method, path, headers);
      asked += 1;
      if (!expected.includes(status)) wrong.push(`${who}: ${method} ${path} answers ${status}`);
    }
    for (const other of METHODS) {
      if (isPublic(other, path)) continue;
      const { status } = await ask(other, path, {});
      asked += 1;
      if (status !== 401) wrong.push(`${other} ${path} answers ${status}`);
    }
  }
  expect(wrong).toEqual([]);
  expect([routes.length > 50, asked > 1_500]).toEqual([true, true]);
});

test('no other way of writing a path leads past the check', async () => {
  const wrong: string[] = [];
  for (const { path } of listRoutes()) {
    const variants = [
      `${path}/`,
      `/${path}`,
      path.toUpperCase(),
      path.replace(/(?<=.)\/([^/]*)$/, '%2f$1'),
      `${path}%00`,
      `${path};x=1`,
      `${path}?token=${TOKEN}`,
      `${path}?authorization=Bearer%20${TOKEN}`,
      `/login/..${path}`,
      `/assets/..%2f..${path}`,
      `${path}.json`,
      `/healthz${path}`,
      `${path}#/healthz`,
      `/%61pi${path.slice(4)}`,
    ];
    for (const variant of variants) {
      if (isPublic('GET', variant.split('?')[0] ?? '')) continue;
      const { status } = await ask('GET', variant, {});
      // Below /assets/ is what was built, and nothing else.
      if (status !== 401 && !(status === 404 && variant.startsWith('/assets/')) && !isPublic('GET', path))
        wrong.push(`${variant} answers ${status}`);
    }
  }
  expect(wrong).toEqual([]);
  for (const path of ['/api', '/api/', '/api/v2/keys', '/nothing', '/metrics', '/.env', '/admin', '/api/v1/nothing'])
    expect([path, (await ask('GET', path, {})).status]).toEqual([path, 401]);
});

/** By node, which sends what `fetch` would not. */
function askRaw(method: string, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ port: server.port, method, path, headers }, (answer: IncomingMessage) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject).end();
  });
}

function sendLines(lines: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(server.port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => resolve(text));
    socket.on('close', () => resolve(text));
    socket.end(`${lines.join('\r\n')}\r\n\r\n`);
  });
}

test('over a socket: odd methods, absolute targets and doubled hosts are refused too', async () => {
  const host = `127.0.0.1:${server.port}`;
  const bearer = `Authorization: Bearer ${TOKEN}`;
  expect(await askRaw('GET', '/api/v1/session', { host, authorization: `Bearer ${TOKEN}` })).toBe(200);
  for (const method of ['TRACE', 'OPTIONS', 'PROPFIND', 'PURGE', 'LINK', 'REPORT'])
    expect([method, [401, 403, 405].includes(await askRaw(method, '/api/v1/keys', { host }))]).toEqual([method, true]);
  for (const path of [
    '//api/v1/keys',
    '/\\api/v1/keys',
    `http://${host}/api/v1/keys`,
    'http://evil.example/api/v1/keys',
    '/api/v1/../v1/keys',
  ])
    expect([path, [400, 401, 421].includes(await askRaw('GET', path, { host }))]).toEqual([path, true]);
  for (const lines of [
    ['GET /api/v1/keys HTTP/1.1', `Host: ${host}`, 'Host: evil.example', bearer],
    ['GET /api/v1/keys HTTP/1.1', 'Host: evil.example', `Host: ${host}`, bearer],
    ['GET http://evil.example/api/v1/keys HTTP/1.1', 'Host: evil.example', bearer],
    ['GET /api/v1/keys HTTP/1.0', bearer],
    ['GET /api/v1/keys HTTP/1.1', bearer],
    ['GET /api/v1/keys HTTP/1.1', `Host: evil.example/#@${host}`, bearer],
    ['CONNECT evil.example:443 HTTP/1.1', `Host: ${host}`, bearer],
  ]) {
    const answer = await sendLines([...lines, 'Connection: close']);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
    // 0: the connection was closed without an answer.
    expect({ lines, status: [0, 400, 403, 421].includes(status) ? 'refused' : status }).toEqual({
      lines,
      status: 'refused',
    });
  }
});

test('no request can name another account', async () => {
  const document = await (await ask('GET', '/api/v1/openapi.json', { authorization: `Bearer ${TOKEN}` })).text();
  const paths = asRecord(asRecord(JSON.parse(document))['paths']);
  const named = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(asRecord(methods)).flatMap(([method, operation]) => {
      const { parameters, requestBody } = asRecord(operation);
      return /account|tenant|organi[sz]ation|"project/i.test(JSON.stringify([path, parameters, requestBody]))
        ? [`${method} ${path}`]
        : [];
    }),
  );
  // An account is named in X-Tollgate-Account alone, which the guard checks (tenant-matrix.test.ts). That a budget may be the
  // account's says of no other.
  expect(named.filter((one) => !one.includes(' /api/v1/accounts') && one !== 'get /api/v1/budgets')).toEqual([]);
});
