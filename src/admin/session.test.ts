import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { createSessions } from './session.ts';

/** Begins a session at `/in` with one token and time, and asks at `/` with another. */
async function signIn(token: string, nowMs: number, isSecure = false): Promise<string> {
  const app = new Hono();
  app.get('/in', async (c) => {
    await createSessions(token, () => nowMs).begin(c, isSecure);
    return c.body(null, 204);
  });
  return (await app.request('/in')).headers.get('set-cookie') ?? '';
}

async function isValid(cookie: string, token: string, nowMs: number): Promise<boolean> {
  const app = new Hono();
  app.get('/', async (c) => c.json(await createSessions(token, () => nowMs).isValid(c)));
  const answer = await app.request('/', { headers: { cookie: cookie.split(';')[0] ?? '' } });
  return (await answer.text()) === 'true';
}

const DAY_MS = 86_400_000;

test('the cookie is out of reach of scripts and other sites, and goes over TLS only where there is TLS', async () => {
  expect((await signIn('token', 0)).replace(/^tollgate_session=[^;]+/, '')).toBe(
    '; Max-Age=2592000; Path=/; HttpOnly; SameSite=Strict',
  );
  expect(await signIn('token', 0, true)).toMatch(/; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
});

test('a session holds for thirty days, and with the same admin token only', async () => {
  const cookie = await signIn('token', 0);
  expect(await isValid(cookie, 'token', 30 * DAY_MS - 1)).toBe(true);
  expect(await isValid(cookie, 'token', 30 * DAY_MS)).toBe(false);
  expect(await isValid(cookie, 'other', 0)).toBe(false);
});

test('no two sessions have the same cookie, and a changed or made-up one is none', async () => {
  const cookie = await signIn('token', 0);
  expect(await signIn('token', 0)).not.toBe(cookie);
  const longer = cookie.replace('=2592000.', '=9992592000.');
  expect(longer).not.toBe(cookie);
  for (const wrong of [longer, 'tollgate_session=', 'tollgate_session=9999999999.abc', 'other=1', cookie.slice(0, 40)])
    expect(await isValid(wrong, 'token', 0)).toBe(false);
});
