import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { DashboardFile, DashboardFiles } from './dashboard-files.ts';
import { isPagePath, PAGE_PATHS, serveDashboard } from './serve-dashboard.ts';

function file(path: string, content: string, more: Partial<DashboardFile> = {}): [string, DashboardFile] {
  const contentType = path.endsWith('.html') ? 'text/html; charset=utf-8' : 'text/javascript; charset=utf-8';
  const isHashed = path.startsWith('/assets/');
  return [path, { contentType, isHashed, content: Buffer.from(content), encoded: new Map(), hash: 'h4sh', ...more }];
}

const FILES: DashboardFiles = new Map([
  file('/index.html', '<p>page'),
  file('/theme.js', 'theme'),
  file('/assets/app-1.js', 'script', {
    encoded: new Map([
      ['br', Buffer.from('BR')],
      ['gzip', Buffer.from('GZ')],
    ]),
  }),
]);

async function ask(
  path: string,
  headers: Record<string, string> = {},
  files: DashboardFiles | null = FILES,
  method = 'GET',
): Promise<Response> {
  const app = new Hono();
  app.use(serveDashboard(files));
  app.all('*', (c) => c.text('not the dashboard', 418));
  return app.request(`http://127.0.0.1${path}`, { method, headers });
}

/** What matters of an answer. */
async function summary(asked: Promise<Response>): Promise<readonly unknown[]> {
  const answer = await asked;
  const named = ['cache-control', 'etag', 'content-encoding', 'content-length', 'vary'];
  return [answer.status, await answer.text(), ...named.map((name) => answer.headers.get(name))];
}

test('the pages are those of the dashboard’s router', () => {
  const router = readFileSync(join(import.meta.dirname, '../../../dashboard/src/router.tsx'), 'utf8');
  const paths = [...router.matchAll(/^ {2}path: '([^']+)'/gm)].map(([, path = '']) => path.replace('$id', ':id'));
  expect([...PAGE_PATHS].sort()).toEqual(paths.sort());
});

test('every page is the one document, which is asked for again each time', async () => {
  for (const path of [
    '/',
    '/login',
    '/runs',
    '/run?trace=a%2Fb',
    '/log/0190f0de-0000-7000-8000-000000000001',
    '/system',
  ])
    expect(await summary(ask(path))).toEqual([200, '<p>page', 'no-cache', '"h4sh"', null, '7', 'accept-encoding']);
  expect([isPagePath('/log/'), isPagePath('/log/a/b'), isPagePath('/runs/'), isPagePath('/api/v1/keys')]).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test('the policy allows scripts of this origin only', async () => {
  const page = await ask('/');
  expect(page.headers.get('content-security-policy')).toBe(
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
});

test('an asset never changes, and is sent in the best form that the client takes', async () => {
  const forever = 'public, max-age=31536000, immutable';
  const plain = [200, 'script', forever, '"h4sh"', null, '6', 'accept-encoding'];
  const brotli = [200, 'BR', forever, '"h4sh-br"', 'br', '2', 'accept-encoding'];
  const gzip = [200, 'GZ', forever, '"h4sh-gzip"', 'gzip', '2', 'accept-encoding'];
  for (const [accepted, expected] of [
    ['gzip, deflate, br, zstd', brotli],
    ['BR', brotli],
    ['gzip', gzip],
    ['gzip, br;q=0', gzip],
    ['br;q=0, gzip;q=0', plain],
    ['identity', plain],
  ] as const)
    expect(await summary(ask('/assets/app-1.js', { 'accept-encoding': accepted }))).toEqual(expected);
  expect(await summary(ask('/assets/app-1.js'))).toEqual(plain);
});

test('who has the file already gets 304, of the same form only', async () => {
  const known = (etag: string, accepted = 'br') =>
    ask('/assets/app-1.js', { 'if-none-match': etag, 'accept-encoding': accepted }).then(({ status }) => status);
  expect(await Promise.all(['"h4sh-br"', 'W/"h4sh-br"', '"x", "h4sh-br"', '*'].map((etag) => known(etag)))).toEqual([
    304, 304, 304, 304,
  ]);
  expect(await Promise.all([known('"h4sh"'), known('"h4sh-br"', 'gzip'), known('h4sh-br')])).toEqual([200, 200, 200]);
});

test('nothing but the listed files is served', async () => {
  for (const path of [
    '/assets/app-2.js',
    '/assets/../index.html/../../package.json',
    '/assets/..%2f..%2fpackage.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets//app-1.js',
    '/assets/app-1.js%00',
    '/assets/app-1.js.br',
    '/.inputs',
    '/.vite/manifest.json',
    '/index.html',
    '/index.html/',
    '/constructor',
  ])
    expect([404, 418]).toContain((await ask(path)).status);
  expect((await ask('/assets/app-2.js')).status).toBe(404);
});

test('a mistyped address is the dashboard’s own "no such page" for a person, and nothing for a program', async () => {
  const person = { 'sec-fetch-mode': 'navigate' };
  expect((await summary(ask('/rnus', person))).slice(0, 2)).toEqual([404, '<p>page']);
  expect((await ask('/rnus')).status).toBe(418);
  expect((await ask('/api/v1/rnus', person)).status).toBe(418);
  expect((await ask('/healthz', person)).status).toBe(418);
});

test('only reading is the dashboard’s', async () => {
  expect((await ask('/', {}, FILES, 'POST')).status).toBe(418);
  expect(await summary(ask('/theme.js', {}, FILES, 'HEAD'))).toEqual([
    200,
    '',
    'no-cache',
    '"h4sh"',
    null,
    '5',
    'accept-encoding',
  ]);
});

test('when it was not built, the pages say how to build it, and allow nothing', async () => {
  const page = await ask('/runs', {}, null);
  expect(page.status).toBe(503);
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^']{44}';/);
  expect(await page.text()).toContain('npm run build:dashboard');
  expect((await ask('/assets/app-1.js', {}, null)).status).toBe(404);
});
