import { expect, test } from 'vitest';
import { bareAdminDeps } from '../../../test/support/admin-deps.ts';
import { createAdminApp } from './admin-app.ts';

const app = createAdminApp(bareAdminDeps({ adminToken: 'token' }));

async function ask(method: string, path: string): Promise<string> {
  const headers = { host: '127.0.0.1', authorization: 'Bearer token' };
  const answer = await app.request(`http://127.0.0.1${path}`, { method, headers });
  const { error } = Object(await answer.json());
  return `${answer.status} ${Object(error).message}`;
}

/** Of the application's own description, parameters of the path filled in. */
const routes = app.openAPIRegistry.definitions
  .flatMap((one) => (one.type === 'route' ? [one.route] : []))
  .map(({ method, path, request }) => ({
    line: `${method.toUpperCase()} ${path.replace(/\{[^}]*\}/g, '1')}`,
    hasParameters: request?.query !== undefined,
  }))
  // What an identity provider adds to its own ways is its business.
  .filter(({ line }) => line.includes(' /api/') && !line.includes('/oidc/'));

test.each(routes)('$line refuses a parameter that it does not have', async ({ line, hasParameters }) => {
  const [method = '', path = ''] = line.split(' ');
  // Where another parameter is missing, that may be said first.
  expect(await ask(method, `${path}?limt=5`)).toMatch(hasParameters ? /^400 / : /^400 limt: this route has no/);
});

test('the refusal names the parameter, and what has none is answered as before', async () => {
  expect(await ask('GET', '/api/v1/keys?page=2')).toBe('400 page: this route has no parameters.');
  expect(await ask('GET', '/api/v1/session')).toBe('200 undefined');
  expect(await ask('GET', '/healthz?at=1')).toBe('200 undefined');
});
