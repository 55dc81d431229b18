import { expect, test } from 'vitest';
import { bareAdminDeps } from '../../../test/support/admin-deps.ts';
import { createAdminApp } from './admin-app.ts';

const app = createAdminApp(bareAdminDeps({ adminToken: 'token' }));

async function ask(method: string, path: string, body?: string): Promise<string> {
  const headers = { host: '127.0.0.1', authorization: 'Bearer token', 'content-type': 'application/json' };
  const init = { method, headers, ...(body === undefined ? {} : { body }) };
  const answer = await app.request(`http://127.0.0.1${path}`, init);
  const { error } = Object(await answer.json());
  return `${answer.status} ${Object(error).message}`;
}

const routes = app.openAPIRegistry.definitions
  .flatMap((one) => (one.type === 'route' ? [one.route] : []))
  .filter(({ path }) => path.startsWith('/api/'))
  .map(({ method, path, request }) => ({
    method: method.toUpperCase(),
    path: path.replace(/\{[^}]*\}/g, '1'),
    parameters: Object.keys(Object(request?.query).shape ?? {}),
    takesJson: Object(request?.body).content?.['application/json'] !== undefined,
  }));

test.each(routes.flatMap(({ method, path, parameters }) => parameters.map((name) => [method, path, name] as const)))(
  '%s %s refuses U+0000 in %s',
  async (method, path, name) => {
    expect(await ask(method, `${path}?${name}=a%00b`)).toBe(
      '400 The address has U+0000 or half of a character, which no text here has.',
    );
  },
);

const TOLD = 'has U+0000 or half of a character, which no text here has.';

// An import of a catalog is read as bytes and stored as text.
test.each(routes.filter(({ takesJson, path }) => takesJson && path !== '/api/v1/prices/catalog'))(
  '$method $path refuses what cannot be stored anywhere in its body',
  async ({ method, path }) => {
    const told = [
      await ask(method, path, '{"name":"a\\u0000b"}'),
      await ask(method, path, '{"settings":{"filters":["model:eq:\\uD800"]}}'),
      await ask(method, path, '{"metadata":{"\\udc00":1}}'),
    ];
    expect(told).toEqual([`400 name ${TOLD}`, `400 0 ${TOLD}`, `400 A name in the body ${TOLD}`]);
  },
);

test('a character in two halves and an escape that is spelt out are text like any other', async () => {
  for (const name of ['\\ud83d\\ude00', '\\\\u0000', '\\\\ud800'])
    expect(await ask('POST', '/api/v1/keys', `{"name":"${name}"}`)).toMatch(/^503 /);
  expect(await ask('GET', '/api/v1/audit?actor=%2500')).toMatch(/^503 /);
  expect(await ask('POST', '/api/v1/keys', '{"name":"\\u0000')).toMatch(/^400 .*JSON/);
});
