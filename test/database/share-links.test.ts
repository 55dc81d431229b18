/**
 * A share link opens one run or one view without a sign-in, and nothing else: every route of the table, other calls, other
 * filters, other accounts, after its end.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { ROUTE_ACCESS } from '../../src/control/admin/route-access.ts';
import { ADMIN_TOKEN, type AdminDatabase, endedCall, idAt, startAdminDatabase } from '../support/admin-database.ts';
import { callBody } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const [kind] = POSTGRES_KINDS;
const OPERATOR = { authorization: `Bearer ${ADMIN_TOKEN}` };
const Created = z.object({ id: z.number(), url: z.string() });
let db: AdminDatabase;

async function ask(method: string, path: string, headers: Record<string, string>, body?: unknown) {
  const leaving = new AbortController();
  const response = await fetch(`${db.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', origin: db.url, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: leaving.signal,
  });
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? '';
  const text = path.includes('/stream') ? '' : await response.text();
  // A stream has no end.
  leaving.abort();
  return { status: response.status, text, cookie };
}

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

async function share(what: object, headers: Record<string, string> = OPERATOR) {
  const body = { name: 'for Ben', expires_at: inHours(1), ...what };
  const { status, text } = await ask('POST', '/api/v1/share-links', headers, body);
  if (status !== 201) throw new Error(`${status} ${text}`);
  return Created.parse(JSON.parse(text));
}

async function visit({ url }: { readonly url: string }): Promise<Record<string, string>> {
  const answer = await ask('POST', '/api/v1/session', {}, { link: url.split('#link=')[1] });
  expect(answer.status).toBe(204);
  return { cookie: answer.cookie };
}

async function statuses(headers: Record<string, string>, paths: readonly string[]) {
  const found: Record<string, number> = {};
  for (const path of paths) found[path] = (await ask('GET', `/api/v1${path}`, headers)).status;
  return found;
}

function all(paths: readonly string[], status: number) {
  return Object.fromEntries(paths.map((path) => [path, status]));
}

function bodyOf(number: number, text: string) {
  return { type: 'body' as const, body: { ...callBody(number, 'request', Buffer.from(text)), id: idAt(number) } };
}

let other: Record<string, string>;

beforeAll(async () => {
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  db = await startAdminDatabase(kind);
  const keyId = Number(
    Created.partial().parse(JSON.parse((await ask('POST', '/api/v1/keys', OPERATOR, { name: 'k' })).text)).id,
  );
  const account = Created.partial().parse(
    JSON.parse((await ask('POST', '/api/v1/accounts', OPERATOR, { name: 'b' })).text),
  ).id;
  other = { ...OPERATOR, 'x-tollgate-account': String(account) };
  const theirKey = Number(
    Created.partial().parse(JSON.parse((await ask('POST', '/api/v1/keys', other, { name: 'k' })).text)).id,
  );
  await db.store(
    bodyOf(1, '{"messages":[{"role":"user","content":"about lions"}]}'),
    endedCall(1, { keyId, traceId: 'a run' }, { model: 'red' }),
    endedCall(2, { keyId, traceId: 'another' }, { model: 'blue' }),
    endedCall(3, { accountId: account ?? 0, keyId: theirKey, traceId: 'a run' }, { model: 'red' }),
  );
}, 60_000);
afterAll(() => db.stop());

const [FIRST, SECOND, THIRD] = [idAt(1), idAt(2), idAt(3)];
const FROM = '2020-01-01T00:00:00Z';
const TO = '2035-01-01T00:00:00Z';
const WINDOW = `from=${encodeURIComponent(FROM)}&to=${encodeURIComponent(TO)}`;

test('a link to a run opens that run, and no other call, route or account', async () => {
  const link = await share({ page: 'run', trace_id: 'a run' });
  expect(link.url).toMatch(/\/login#link=tgs_[0-9A-Za-z]{49}$/);
  const visitor = await visit(link);
  const { text } = await ask('GET', '/api/v1/session', visitor);
  expect(JSON.parse(text)).toMatchObject({
    kind: 'link',
    name: 'for Ben',
    may_read_bodies: false,
    shared: { page: 'run', parameters: { trace_id: ['a run'] } },
  });
  const own = [
    '/run?trace_id=a%20run',
    '/run/calls?trace_id=a+run&columns=true',
    '/run/stream?trace_id=a+run',
    `/logs/${FIRST}`,
  ];
  expect(await statuses(visitor, own)).toEqual(all(own, 200));
  expect((await ask('GET', '/api/v1/run/calls?trace_id=a%20run', visitor)).text).not.toContain(THIRD);
  const foreign = [
    '/run?trace_id=another',
    '/run?trace_id=a%20run&trace_id=another',
    '/run?%74race_id=another',
    '/run/calls?trace_id=another',
    '/run/stream?trace_id=another',
    `/logs/${SECOND}`,
    `/logs/${THIRD}`,
    `/logs/${FIRST}/request`,
    `/logs/${FIRST}/response`,
    '/logs',
    '/logs?f=trace_id:eq:a%20run',
    '/logs/summary',
    '/runs?q=a',
    '/export?kind=run&trace_id=a%20run',
  ];
  expect(await statuses(visitor, foreign)).toEqual(all(foreign, 403));
  // Of the whole table it may end its own visit and ask who it is.
  const lines = Object.keys(ROUTE_ACCESS).filter((line) => !line.endsWith(' /api/v1/session'));
  const answers = await Promise.all(
    lines.map(async (line) => {
      const [method = '', path = ''] = line.split(' ');
      const body = method === 'GET' ? undefined : {};
      return [line, (await ask(method, path.replace(/\{[^}]*\}/g, '1'), visitor, body)).status];
    }),
  );
  expect(Object.fromEntries(answers)).toEqual(all(lines, 403));
  expect((await ask('POST', '/mcp', visitor, {})).status).toBe(404);
  expect(
    (await ask('GET', '/api/v1/run?trace_id=a%20run', { ...visitor, ...{ 'x-tollgate-account': '2' } })).status,
  ).toBe(404);
});

test('it shows texts only where that was ticked, by somebody who may read them', async () => {
  const visitor = await visit(await share({ page: 'run', trace_id: 'a run', bodies: true }));
  const { status, text } = await ask('GET', `/api/v1/logs/${FIRST}/request`, visitor);
  expect([status, text.includes('about lions')]).toEqual([200, true]);
  expect((await ask('GET', `/api/v1/logs/${SECOND}/request`, visitor)).status).toBe(403);
  const made = await ask('POST', '/api/v1/tokens', OPERATOR, { name: 'm', scopes: ['manage'] });
  const { token } = z.object({ token: z.string() }).parse(JSON.parse(made.text));
  const blind = { authorization: `Bearer ${token}` };
  const refused = { name: 'x', page: 'run', trace_id: 'a run', bodies: true, expires_at: inHours(1) };
  expect((await ask('POST', '/api/v1/share-links', blind, refused)).status).toBe(403);
  expect((await ask('POST', '/api/v1/share-links', blind, { ...refused, bodies: false })).status).toBe(201);
});

test('a link to a view shows the calls of its filters and times, and no others', async () => {
  const visitor = await visit(await share({ page: 'logs', f: ['model:eq:red'], from: FROM, to: TO }));
  const own = [
    `/logs?f=model:eq:red&${WINDOW}&sort=-total_cost&limit=5&fields=id,model`,
    `/logs/summary?${WINDOW}&f=model%3Aeq%3Ared&exclude_runs=false`,
    `/logs/${FIRST}`,
  ];
  expect(await statuses(visitor, own)).toEqual(all(own, 200));
  const foreign = [
    `/logs?${WINDOW}`,
    `/logs?f=model:eq:blue&${WINDOW}`,
    `/logs?f=model:eq:red&f=model:eq:red&${WINDOW}`,
    `/logs?f=model:eq:red&from=${FROM}&to=2036-01-01T00:00:00Z`,
    `/logs?f=model:eq:red&${WINDOW}&q=lions`,
    `/logs/facets?f=model:eq:red&${WINDOW}`,
    `/logs/stream?f=model:eq:red`,
    `/logs/${SECOND}`,
    `/logs/${THIRD}`,
    '/run?trace_id=a%20run',
    `/export?kind=logs&f=model:eq:red&${WINDOW}`,
  ];
  expect(await statuses(visitor, foreign)).toEqual(all(foreign, 403));

  const costs = await visit(await share({ page: 'costs', group_by: 'model', from: FROM, to: TO }));
  const asked = [`/costs?group_by=model&${WINDOW}`, `/costs?group_by=key&${WINDOW}`, `/logs/${FIRST}`];
  expect(Object.values(await statuses(costs, asked))).toEqual([200, 403, 403]);
  const runs = await visit(await share({ page: 'runs', from: FROM, to: TO }));
  expect(Object.values(await statuses(runs, [`/runs?${WINDOW}`, '/runs', '/run?trace_id=a%20run']))).toEqual([
    200, 403, 403,
  ]);
});

test('a view that cannot be shown is refused when it is shared', async () => {
  const wrong = [
    { page: 'logs', from: TO, to: FROM },
    { page: 'logs', f: ['nothing:eq:1'], from: FROM, to: TO },
    { page: 'logs', from: '0000-01-01T00:00:00Z', to: TO },
    { page: 'logs', q: 'lions', from: FROM, to: TO },
    { page: 'costs', group_by: 'weather', from: FROM, to: TO },
    { page: 'run', trace_id: 'a run', expires_at: inHours(24 * 366) },
    { page: 'run', trace_id: 'a run', expires_at: inHours(-1) },
  ];
  for (const what of wrong) await expect(share(what)).rejects.toThrow(/^400 /);
});

test('a visit holds for its own link alone, and not for another one that has its number after a move', async () => {
  const link = await share({ page: 'run', trace_id: 'a run' });
  const visitor = await visit(link);
  expect((await ask('GET', '/api/v1/run?trace_id=a%20run', visitor)).status).toBe(200);
  await db.pool.query("update share_links set digest = decode(repeat('07', 32), 'hex') where id = $1", [link.id]);
  expect((await ask('GET', '/api/v1/run?trace_id=a%20run', visitor)).status).toBe(401);
});

test('revoked or expired it opens nothing, for who is inside as well, and the audit log says who made and revoked it', async () => {
  const [first, second] = [
    await share({ page: 'run', trace_id: 'a run' }),
    await share({ page: 'run', trace_id: 'a run' }),
  ];
  const [visitor, late] = [await visit(first), await visit(second)];
  expect((await ask('DELETE', `/api/v1/share-links/${first.id}`, other)).status).toBe(404);
  expect((await ask('DELETE', `/api/v1/share-links/${first.id}`, OPERATOR)).status).toBe(200);
  await db.pool.query(
    "update share_links set expires_at = now(), created_at = now() - interval '1 hour' where id = $1",
    [second.id],
  );
  for (const headers of [visitor, late])
    expect((await ask('GET', '/api/v1/run?trace_id=a%20run', headers)).status).toBe(401);
  for (const { url } of [first, second]) {
    const answer = await ask('POST', '/api/v1/session', {}, { link: url.split('#link=')[1] });
    expect([answer.status, answer.text.includes('link_invalid')]).toEqual([401, true]);
  }
  const { rows } = await db.pool.query<{ text: string }>('select t::text as text from share_links t');
  expect(rows.some(({ text }) => text.includes(first.url.split('tgs_')[1] ?? '?'))).toBe(false);
  const { rows: noted } = await db.pool.query<{ action: string; kind: string }>(
    "select action, actor_kind as kind from audit_log where subject_kind = 'share_link' and subject_id = $1 order by seq",
    [String(first.id)],
  );
  expect(noted).toEqual([
    { action: 'share_link.create', kind: 'operator' },
    { action: 'share_link.open', kind: 'nobody' },
    { action: 'share_link.revoke', kind: 'operator' },
  ]);
  expect(JSON.parse((await ask('GET', '/api/v1/share-links', OPERATOR)).text)).toMatchObject({
    data: expect.arrayContaining([expect.objectContaining({ id: first.id, name: 'for Ben', page: 'run' })]),
  });
});
