/** Signing in and out where several nodes share one database: the same admin token, each with an API of its own. */

import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import { type EndedSessions, openEndedSessions } from '../../src/control/admin/ended-sessions.ts';
import { bareAdminDeps } from '../support/admin-deps.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres } from '../support/postgres.ts';

const TOKEN = 'the-admin-token-of-both-of-the-nodes';
const ORIGIN = 'http://127.0.0.1:4142';
const log = pino({ level: 'silent' });

interface Node {
  readonly ask: (method: string, path: string, headers?: Record<string, string>, body?: unknown) => Promise<Response>;
  readonly endedSessions: EndedSessions;
}

let pool: pg.Pool;
let stop: () => Promise<void>;
let isAway = false;

beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL');
  const server = await startPostgres(kind);
  pool = openTestPool(await server.createDatabase('sign_ins'));
  stop = async () => {
    await pool.end();
    await server.remove();
  };
});
afterAll(() => stop());

function startNode(): Node {
  const endedSessions = openEndedSessions(null, log);
  const app = createAdminApp(
    bareAdminDeps({ adminToken: TOKEN, database: () => (isAway ? null : pool), endedSessions }),
  );
  return {
    endedSessions,
    ask: (method, path, headers = {}, body) => {
      const sent = { host: '127.0.0.1:4142', origin: ORIGIN, 'content-type': 'application/json', ...headers };
      const init = { method, headers: sent, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      return Promise.resolve(app.request(`${ORIGIN}/api/v1${path}`, init));
    },
  };
}

const bearer = { authorization: `Bearer ${TOKEN}` };

async function createCode(node: Node): Promise<string> {
  const answer: { url: string } = Object(await (await node.ask('POST', '/login-links', bearer)).json());
  return answer.url.split('#code=')[1] ?? '';
}

async function signIn(node: Node, code: string): Promise<{ readonly status: number; readonly cookie: string }> {
  const answer = await node.ask('POST', '/session', {}, { code });
  return { status: answer.status, cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' };
}

test('a login link of one node opens another, once on any of them', async () => {
  const [first, second] = [startNode(), startNode()];
  const code = await createCode(first);
  const statuses = await Promise.all([second, first, second].map(async (node) => (await signIn(node, code)).status));
  expect(statuses.sort()).toEqual([204, 401, 401]);
});

test('a link that was made while the database was away opens its own node, once', async () => {
  const [first, second] = [startNode(), startNode()];
  isAway = true;
  const code = await createCode(first);
  isAway = false;
  expect((await signIn(second, code)).status).toBe(401);
  expect((await signIn(first, code)).status).toBe(204);
  expect((await signIn(first, code)).status).toBe(401);
});

test('a code is valid by the clock of the database, and the hundred last ones are kept', async () => {
  const node = startNode();
  const code = await createCode(node);
  await pool.query("update login_codes set expires_at = now() - interval '1 second'");
  expect((await signIn(node, code)).status).toBe(401);
  for (let number = 0; number < 105; number += 1) await createCode(node);
  expect((await pool.query('select from login_codes')).rowCount).toBe(100);
});

test('signing out on one node ends the session on the others as soon as they have exchanged what was ended', async () => {
  const [first, second] = [startNode(), startNode()];
  const { cookie } = await signIn(first, await createCode(first));
  const { cookie: kept } = await signIn(first, await createCode(second));
  const statuses = () =>
    Promise.all(
      [first, second].flatMap((node) =>
        [cookie, kept].map(async (one) => (await node.ask('GET', '/session', { cookie: one })).status),
      ),
    );
  expect(await statuses()).toEqual([200, 200, 200, 200]);
  expect((await first.ask('DELETE', '/session', { cookie })).status).toBe(204);
  await first.endedSessions.exchange(pool);
  await second.endedSessions.exchange(pool);
  expect(await statuses()).toEqual([401, 200, 401, 200]);
  const { rows } = await pool.query<{ digest: string }>('select digest from ended_sessions');
  expect(rows).toHaveLength(1);
  expect(cookie).not.toContain(rows[0]?.digest);
  // What is over by itself is not kept.
  await pool.query("update ended_sessions set expires_at = now() - interval '1 second'");
  first.endedSessions.add('another', Date.now() + 60_000);
  await first.endedSessions.exchange(pool);
  expect((await pool.query('select from ended_sessions')).rowCount).toBe(1);
});

test('a password that a person sets has its row, beside the one of the session that goes on with it', async () => {
  const node = startNode();
  const invited: { link: { url: string } } = Object(
    await (await node.ask('POST', '/people', bearer, { email: 'ida@example.com', role: 'member' })).json(),
  );
  const person = invited.link.url.split('=').at(-1);
  const begun = await node.ask('POST', '/session', {}, { person });
  const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
  const set = await node.ask('PUT', '/password', { cookie }, { password: 'correct horse battery staple' });
  expect(set.status).toBe(204);
  const { rows } = await pool.query(
    `select action, actor_name as actor, before, after from audit_log where subject_kind = 'person' order by seq desc limit 2`,
  );
  expect(rows).toEqual([
    { action: 'session.begin', actor: 'ida@example.com', before: null, after: null },
    {
      action: 'password.set',
      actor: 'ida@example.com',
      before: { has_password: false },
      after: { has_password: true },
    },
  ]);
});
