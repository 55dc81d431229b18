/** Live streams and downloads of a session that was ended while they were open. */
import type pg from 'pg';
import { pino } from 'pino';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import { type AdminServer, listenAdmin } from '../../src/control/admin/admin-server.ts';
import { type EndedSessions, openEndedSessions } from '../../src/control/admin/ended-sessions.ts';
import { bareAdminDeps } from '../support/admin-deps.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres } from '../support/postgres.ts';

const TOKEN = 'the-admin-token-of-both-of-the-nodes';
const log = pino({ level: 'silent' });
let pool: pg.Pool;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL');
  const server = await startPostgres(kind);
  pool = openTestPool(await server.createDatabase('signed_out'));
  closing.push(
    () => server.remove(),
    () => pool.end(),
  );
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

interface Node {
  readonly server: AdminServer;
  readonly endedSessions: EndedSessions;
}

async function startNode(): Promise<Node> {
  const endedSessions = openEndedSessions(null, log);
  const app = createAdminApp(bareAdminDeps({ adminToken: TOKEN, database: () => pool, endedSessions }));
  const server = await listenAdmin(app, '127.0.0.1', 0);
  closing.push(() => server.close());
  return { server, endedSessions };
}

async function ask({ server }: Node, method: string, path: string, headers: Record<string, string>, body?: string) {
  const base = `http://127.0.0.1:${server.port}`;
  const dispatcher = new Agent();
  const given = { ...(method === 'GET' ? {} : { origin: base, 'content-type': 'application/json' }), ...headers };
  return fetch(`${base}/api/v1${path}`, {
    method,
    dispatcher,
    headers: given,
    ...(body === undefined ? {} : { body }),
  });
}

async function signIn(node: Node): Promise<string> {
  const answer = await ask(node, 'POST', '/session', {}, JSON.stringify({ token: TOKEN }));
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** A live stream that has begun; `state` says how it ends. */
async function openStream(node: Node, headers: Record<string, string>) {
  const answer = await ask(node, 'GET', '/logs/stream', headers);
  const reader = answer.body?.getReader();
  if (reader === undefined) throw new Error('no stream');
  await reader.read();
  const found = { state: 'open' };
  const ended = (async () => {
    try {
      while (!(await reader.read()).done);
      found.state = 'ended';
    } catch {
      found.state = 'broken off';
    }
  })();
  return { found, ended };
}

test('signing out breaks the live streams of that session off, on every node, and nobody else’s', async () => {
  const [first, second] = [await startNode(), await startNode()];
  const [cookie, other] = [await signIn(first), await signIn(first)];
  const own = await Promise.all([first, second].map((node) => openStream(node, { cookie })));
  const kept = [
    await openStream(first, { cookie: other }),
    await openStream(first, { authorization: `Bearer ${TOKEN}` }),
  ];
  expect((await ask(first, 'DELETE', '/session', { cookie })).status).toBe(204);
  await first.endedSessions.exchange(pool);
  await second.endedSessions.exchange(pool);
  await Promise.all(own.map(({ ended }) => ended));
  expect(own.map(({ found }) => found.state)).toEqual(['broken off', 'broken off']);
  expect(kept.map(({ found }) => found.state)).toEqual(['open', 'open']);
});
