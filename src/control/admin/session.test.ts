import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openEndedSessions } from './ended-sessions.ts';
import { createSessions } from './session.ts';

const ended = openEndedSessions(null, pino({ level: 'silent' }));

/** Begins a session at `/in` with one token and time, and asks at `/` with another. */
async function signIn(token: string, nowMs: number, isSecure = false): Promise<string> {
  const app = new Hono();
  app.get('/in', async (c) => {
    await createSessions(token, ended, () => nowMs).begin(c, isSecure);
    return c.body(null, 204);
  });
  return (await app.request('/in')).headers.get('set-cookie') ?? '';
}

async function isValid(cookie: string, token: string, nowMs: number): Promise<boolean> {
  const app = new Hono();
  app.get('/', async (c) => c.json(await createSessions(token, ended, () => nowMs).isValid(c)));
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

test('signing out ends every copy of the cookie, also after a restart, and no other session', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tg-'));
  const path = join(dir, 'ended-sessions.json');
  const log = pino({ level: 'silent' });
  const signedIn = async (cookie: string) => {
    const app = new Hono();
    app.get('/', async (c) => c.json(await createSessions('token', openEndedSessions(path, log)).isValid(c)));
    return (await (await app.request('/', { headers: { cookie } })).text()) === 'true';
  };
  const [first = '', second = ''] = [await signIn('token', Date.now()), await signIn('token', Date.now())].map(
    (cookie) => cookie.split(';')[0],
  );
  const app = new Hono();
  app.get('/out', async (c) => {
    await createSessions('token', openEndedSessions(path, log)).end(c, false);
    return c.body(null, 204);
  });
  expect([await signedIn(first), await signedIn(second)]).toEqual([true, true]);
  const answer = await app.request('/out', { headers: { cookie: first } });
  expect(answer.headers.get('set-cookie')).toBe('tollgate_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict');
  expect([await signedIn(first), await signedIn(second)]).toEqual([false, true]);
  // A made-up cookie is not noted, and a cookie cannot be read from the note.
  await app.request('/out', { headers: { cookie: 'tollgate_session=9999999999.abc.def' } });
  const noted = readFileSync(path, 'utf8');
  expect([JSON.parse(noted).length, statSync(path).mode & 0o777]).toEqual([1, 0o600]);
  expect(noted).not.toContain(first.split('.')[1]);
  writeFileSync(path, 'damaged');
  expect(await signedIn(second)).toBe(true);
  rmSync(dir, { recursive: true });
});

test('sessions that would have ended by themselves are forgotten, and the first of two thousand gives way', () => {
  let nowMs = 0;
  const sessions = openEndedSessions(null, pino({ level: 'silent' }), () => nowMs);
  sessions.add('old', 1_000);
  nowMs = 1_000;
  sessions.add('s0', 2_000);
  expect([sessions.has('old'), sessions.has('s0')]).toEqual([false, true]);
  for (let number = 1; number <= 2_000; number += 1) sessions.add(`s${number}`, 2_000);
  expect([sessions.has('s0'), sessions.has('s1'), sessions.has('s2000')]).toEqual([false, true, true]);
});
