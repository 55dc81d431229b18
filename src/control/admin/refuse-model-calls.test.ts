/** A client whose base address has the admin port's number is told so, in a form that it does not try again. */
import { expect, test } from 'vitest';
import { bareAdminDeps } from '../../../test/support/admin-deps.ts';
import { createAdminApp } from './admin-app.ts';

const app = createAdminApp(bareAdminDeps({ adminToken: 'an-admin-token-of-thirty-two-chars' }));
const { baseUrl } = bareAdminDeps({ adminToken: 'unused' });

function ask(line: string, headers: Record<string, string> = {}) {
  const [method = '', path = ''] = line.split(' ');
  return app.request(`http://127.0.0.1:4142${path}`, { method, headers: { host: '127.0.0.1:4142', ...headers } });
}

test.each([
  ['POST /v1/chat/completions', 'admin_port'],
  ['POST /v1/messages?beta=true', 'admin_port'],
  ['GET /v1/models', 'admin_port'],
  ['POST /v1/v1/messages', 'admin_port'],
  ['POST /v1beta/models/gemini-2.5-flash:generateContent', 404],
  ['POST /model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke', 'admin_port'],
])('%s: 404 that names the proxy, and is not tried again', async (line, code) => {
  const answer = await ask(line, { authorization: 'Bearer sk-ant-of-somebody' });
  const body = JSON.parse(await answer.text());
  expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([404, 'false']);
  expect(body.error.code).toBe(code);
  expect(body.error.message).toContain(`set the base address to ${baseUrl}, or ${baseUrl}/v1`);
});

test.each(['GET /api/v1/logs', 'GET /api/v1/keys', 'GET /metrics', 'GET /nothing'])(
  '%s is the admin port’s own: 401 without a credential',
  async (line) => {
    expect((await ask(line)).status).toBe(401);
  },
);
