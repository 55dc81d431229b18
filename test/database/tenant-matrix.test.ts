/**
 * Two accounts in one database. Every route of the table × everyone of the first account × the ids of the second: refused,
 * or nothing of it is in the answer; and afterwards nothing of it has changed. A route with a parameter that is not
 * known here fails.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Role, SCOPES } from '../../src/control/admin/principal.ts';
import { ROUTE_ACCESS } from '../../src/control/admin/route-access.ts';
import { ADMIN_TOKEN, type AdminDatabase, endedCall, idAt, startAdminDatabase } from '../support/admin-database.ts';
import { callBody } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const [kind] = POSTGRES_KINDS;
let db: AdminDatabase;
/** Of the second account; each thing of it has "bravo" in its name. */
const theirs: Record<string, string> = {};
const askers = new Map<string, Record<string, string>>();
const STREAM_MS = 700;

const Made = z.looseObject({ id: z.number() });
const OPERATOR = { authorization: `Bearer ${ADMIN_TOKEN}` };
const inBravo = () => ({ 'x-tollgate-account': theirs['account'] ?? '' });

async function ask(method: string, path: string, headers: Record<string, string>, body?: unknown) {
  const isStream = /\/stream/.test(path);
  const response = await fetch(`${db.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', origin: db.url, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(isStream ? { signal: AbortSignal.timeout(STREAM_MS) } : {}),
  });
  let text = '';
  try {
    for await (const part of response.body ?? []) text += Buffer.from(part).toString();
  } catch {
    // A stream is left.
  }
  return { status: response.status, text, cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '' };
}

async function make(path: string, body: unknown, headers: Record<string, string> = {}) {
  const { status, text } = await ask('POST', `/api/v1${path}`, { ...OPERATOR, ...headers }, body);
  if (status !== 201) throw new Error(`${path}: ${status} ${text}`);
  return z.looseObject({}).parse(JSON.parse(text));
}

async function makeId(path: string, body: unknown, headers: Record<string, string> = {}): Promise<string> {
  return String(Made.parse(await make(path, body, headers)).id);
}

async function invite(role: Role, mayReadBodies = true) {
  const name = mayReadBodies ? role : `${role} without texts`;
  const email = `${name.replaceAll(' ', '-')}@alpha.example`;
  const made = await make('/people', { email, role, may_read_bodies: mayReadBodies });
  const { link } = z.looseObject({ link: z.object({ url: z.string() }) }).parse(made);
  const person = link.url.split('#person=')[1];
  const { status, cookie } = await ask('POST', '/api/v1/session', {}, { person });
  expect(status).toBe(204);
  askers.set(name, { cookie });
}

const OVERRIDE = {
  provider: 'openai',
  match: 'exact',
  model: 'bravo-model',
  rates: { input: '1' },
  note: 'bravo',
};

function bodyOf(number: number, text: string) {
  return { type: 'body' as const, body: { ...callBody(number, 'request', Buffer.from(text)), id: idAt(number) } };
}

beforeAll(async () => {
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  db = await startAdminDatabase(kind);
  theirs['account'] = await makeId('/accounts', { name: 'bravo' });
  theirs['keys'] = await makeId('/keys', { name: 'bravo key' }, inBravo());
  const ownKey = Number(await makeId('/keys', { name: 'alpha key' }));
  theirs['run-tokens'] = await makeId('/run-tokens', { name: 'bravo run token' }, inBravo());
  theirs['read-tokens'] = await makeId('/read-tokens', { name: 'bravo read token' }, inBravo());
  const forAnHour = { expires_at: new Date(Date.now() + 3_600_000).toISOString() };
  const ofRun = { name: 'bravo link', page: 'run', trace_id: 'bravo-run', bodies: true, ...forAnHour };
  theirs['share-links'] = await makeId('/share-links', ofRun, inBravo());
  theirs['limits'] = await makeId('/limits', { requests_per_minute: 5 }, inBravo());
  const budget = { name: 'bravo budget', scope: 'run', amount_usd: '1', period: 'once' };
  theirs['budgets'] = await makeId('/budgets', budget, inBravo());
  theirs['tokens'] = await makeId('/tokens', { name: 'bravo token', scopes: ['read'] }, inBravo());
  const { person } = z
    .looseObject({ person: Made })
    .parse(await make('/people', { email: 'owner@bravo.example', role: 'owner' }, inBravo()));
  theirs['people'] = String(person.id);
  const account = { accountId: Number(theirs['account']), keyId: Number(theirs['keys']) };
  const metadata: [string, string][] = [['Bravo-Key', 'bravo-value']];
  await db.store(
    endedCall(1, { keyId: ownKey, traceId: 'shared', spanPath: 'alpha step', modelRequested: 'alpha-model' }),
    bodyOf(2, '{"messages":[{"role":"user","content":"bravo prompt about zebras"}]}'),
    endedCall(
      2,
      { ...account, traceId: 'shared', spanPath: 'bravo step', metadata, path: '/v1/bravo' },
      { model: 'bravo-model' },
    ),
    endedCall(3, { ...account, traceId: 'bravo-run', metadata, path: '/v1/bravo' }, { model: 'bravo-model' }),
    bodyOf(4, '{"messages":[{"role":"user","content":"alpha prompt about lions"}]}'),
    endedCall(4, { keyId: ownKey, traceId: 'alpha-run' }),
  );
  theirs['logs'] = idAt(2);
  const paused = await ask(
    'POST',
    '/api/v1/brakes/pauses',
    { ...OPERATOR, ...inBravo() },
    { scope: 'run', value: 'bravo-run', reason: 'bravo' },
  );
  if (paused.status >= 300) throw new Error(`a pause: ${paused.status} ${paused.text}`);
  theirs['brakes'] = String(/"id":(\d+)/.exec(paused.text)?.[1]);
  for (const path of ['overrides', 'mappings', 'multipliers']) {
    const declared = {
      overrides: OVERRIDE,
      mappings: { provider: 'openai', match: 'exact', model: 'bravo-other', billing_model: 'gpt-5', note: 'bravo' },
      multipliers: { provider: 'openai', provider_alias: 'bravo', factor: '0.9', note: 'bravo' },
    }[path];
    const { status, text } = await ask('POST', `/api/v1/prices/${path}`, { ...OPERATOR, ...inBravo() }, declared);
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
    theirs[path] = String(/"id":(\d+)/.exec(text)?.[1]);
  }
  // An address is refused where the operator allows none, so the rows are made here.
  for (const statement of [
    "insert into alert_destinations (account_id, name, kind, address, created_by) values ($1, 'bravo', 'webhook', 'https://bravo.example', 'bravo') returning id",
    "insert into alerts (account_id, name, kind, settings, destinations, created_by) values ($1, 'bravo', 'jobs', '{}', '{}', 'bravo') returning id",
  ]) {
    const { rows: made } = await db.pool.query<{ id: number }>(statement, [theirs['account']]);
    theirs[statement.includes('alert_destinations') ? 'alert-destinations' : 'alerts'] = String(made[0]?.id);
  }
  await db.prices.refresh(db.pool);
  const promoted = await ask('POST', '/api/v1/metadata-keys/Bravo-Key/promote', { ...OPERATOR, ...inBravo() }, {});
  expect(promoted.status).toBe(202);
  const { rows } = await db.pool.query<{ id: number }>('select id from jobs where account_id <> 1');
  theirs['jobs'] = String(rows[0]?.id);
  theirs['reprice'] = theirs['jobs'];
  for (const role of ['viewer', 'member', 'owner'] as const) await invite(role);
  await invite('viewer', false);
  const shared = await make('/share-links', { ...ofRun, name: 'alpha link', trace_id: 'shared' });
  const link = String(shared['url']).split('#link=')[1];
  askers.set('share link', { cookie: (await ask('POST', '/api/v1/session', {}, { link })).cookie });
  for (const scope of SCOPES) {
    const { token } = z
      .looseObject({ token: z.string() })
      .parse(await make('/tokens', { name: scope, scopes: [scope] }));
    askers.set(`token ${scope}`, { authorization: `Bearer ${token}` });
  }
}, 60_000);
afterAll(() => db.stop());

/** The ids of the second account in the place of parameters. */
function fill(path: string): string {
  return path.replace(/\{(\w+)\}/g, (_all, name: string) => {
    const [, , , first = '', second = ''] = path.split('/');
    if (path.startsWith('/api/v1/accounts/')) return theirs['account'] ?? '';
    if (name === 'key') return 'Bravo-Key';
    if (name === 'provider') return 'openai';
    if (name === 'alias') return 'bravo';
    // For the operator alone: their names are of nobody.
    if (/^\/api\/v1\/(?:nodes|budget-nodes|settings)\//.test(path)) return 'x';
    const id = theirs[first === 'prices' ? second : first];
    if (id === undefined) throw new Error(`${path}: which id has this of the other account? Say it here.`);
    return id;
  });
}

const QUERIES: Readonly<Record<string, readonly string[]>> = {
  '/api/v1/run': ['?trace_id=shared', '?trace_id=bravo-run'],
  '/api/v1/run/calls': ['?trace_id=shared', '?trace_id=bravo-run', '?trace_id=shared&columns=true'],
  '/api/v1/run/stream': ['?trace_id=shared'],
  '/api/v1/logs': ['', '?q=zebras', '?snippets=true', '?f=trace_id:eq:bravo-run', '?f=metadata.Bravo-Key:has'],
  '/api/v1/logs/facets': ['', '?q=zebras'],
  '/api/v1/export': ['?kind=logs', '?kind=runs', '?kind=run&trace_id=shared', '?kind=run&trace_id=bravo-run'],
  '/api/v1/costs': ['', '?group_by=model', '?group_by=metadata.Bravo-Key', '?group_by=key_id'],
  '/api/v1/prices/rows': ['?provider=openai&model=bravo-model'],
  '/api/v1/runs/groups': ['?by=model'],
};

const BODIES: Readonly<Record<string, unknown>> = {
  'PUT /api/v1/accounts/{id}/retention': { retention_rows: 5, retention_bodies: 2 },
  'PATCH /api/v1/keys/{id}': { name: 'taken' },
  'POST /api/v1/keys/{id}/rotate': {},
  'PATCH /api/v1/limits/{id}': { requests_per_minute: 9 },
  'PATCH /api/v1/run-tokens/{id}': { ttl_seconds: 900 },
  'PATCH /api/v1/alerts/{id}': { is_on: false },
  'PATCH /api/v1/people/{id}': { role: 'viewer' },
  'PATCH /api/v1/accounts/{id}': { name: 'taken' },
  'PUT /api/v1/settings/{name}': { value: 'x' },
  'POST /api/v1/metadata-keys/{key}/promote': {},
  'POST /api/v1/metadata-keys/{key}/demote': {},
};

/** What was asked for, in the answer. */
const ECHOED = /Bravo-Key|"billing_model":"bravo-model"/gi;

/** All rows of the second account, by table. */
async function fingerprint(): Promise<Record<string, unknown>> {
  const { rows: tables } = await db.pool.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where a.attname = 'account_id' and c.relkind in ('r', 'p') and not c.relispartition
       and c.relnamespace = 'public'::regnamespace order by 1`,
  );
  const prints: Record<string, unknown> = {};
  for (const { name } of tables) {
    const { rows } = await db.pool.query(
      `select count(*) as rows, md5(string_agg(t::text, '|' order by t::text)) as print from ${name} t where account_id = $1`,
      [theirs['account']],
    );
    prints[name] = rows[0];
  }
  return prints;
}

describe('of another account', () => {
  let before: Record<string, unknown>;
  beforeAll(async () => {
    before = await fingerprint();
    expect(
      Object.values(before).filter((one) => z.object({ rows: z.number() }).parse(one).rows > 0).length,
    ).toBeGreaterThan(8);
  });

  test.each(Object.keys(ROUTE_ACCESS))('%s shows and changes nothing', { timeout: 60_000 }, async (line) => {
    const [method = '', path = ''] = line.split(' ');
    // They would end the session of the asker, or are about nobody's account.
    if (line === 'DELETE /api/v1/session' || line === 'GET /api/v1/openapi.json') return;
    const body = method === 'GET' ? undefined : (BODIES[line] ?? {});
    const all = [...askers].flatMap(([name, headers]) =>
      (QUERIES[path] ?? ['']).map((query) => ({ name, headers, query })),
    );
    await Promise.all(
      all.map(async ({ name, headers, query }) => {
        const answer = await ask(method, fill(path) + query, headers, body);
        const at = Math.max(0, answer.text.replaceAll(ECHOED, '').search(/bravo|zebras/i) - 200);
        const said = `${name}: ${line}${query} ${answer.status} ${answer.text.replaceAll(ECHOED, '').slice(at, at + 400)}`;
        expect(answer.text.replaceAll(ECHOED, '').match(/bravo|zebras/i), said).toBeNull();
        expect([500, 503], said).not.toContain(answer.status);
        if (/\{(?:id|job_id)\}/.test(path)) expect([403, 404], said).toContain(answer.status);
      }),
    );
  });

  test('after all this it is as it was', async () => {
    expect(await fingerprint()).toEqual(before);
  });

  test('nobody gets there by naming it, and the operator does', async () => {
    for (const [name, headers] of askers) {
      const answer = await ask('GET', '/api/v1/keys', { ...headers, ...inBravo() });
      expect([name, answer.status, answer.text.includes('account_not_found')]).toEqual([name, 404, true]);
    }
    const answer = await ask('GET', '/api/v1/keys', { ...OPERATOR, ...inBravo() });
    expect(answer.text).toContain('bravo key');
    expect((await ask('GET', '/api/v1/keys', { ...OPERATOR, 'x-tollgate-account': '77' })).status).toBe(404);
  });

  test('the same trace id is another run', async () => {
    const own = await ask('GET', '/api/v1/run/calls?trace_id=shared', OPERATOR);
    const other = await ask('GET', '/api/v1/run/calls?trace_id=shared', { ...OPERATOR, ...inBravo() });
    expect([own.text.includes('alpha step'), own.text.includes('bravo step')]).toEqual([true, false]);
    expect([other.text.includes('alpha step'), other.text.includes('bravo step')]).toEqual([false, true]);
  });

  test('a read token asks of its own account over MCP', async () => {
    const runs = async (headers: Record<string, string>) => {
      const { token } = z
        .looseObject({ token: z.string() })
        .parse(await make('/read-tokens', { name: 'mcp' }, headers));
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${db.url}/mcp`), {
          requestInit: { headers: { authorization: `Bearer ${token}` } },
        }),
      );
      const { content } = await client.callTool({ name: 'list_runs', arguments: {} });
      await client.close();
      return JSON.stringify(content);
    };
    const own = await runs({});
    expect([own.includes('alpha-run'), own.includes('bravo-run')]).toEqual([true, false]);
    const other = await runs(inBravo());
    expect([other.includes('alpha-run'), other.includes('bravo-run')]).toEqual([false, true]);
  });
});

describe('within the account', () => {
  test('each may what its row of the table says', { timeout: 30_000 }, async () => {
    const statuses = async (method: string, path: string, body?: unknown) => {
      const found: Record<string, number> = {};
      for (const [name, headers] of askers) found[name] = (await ask(method, path, headers, body)).status;
      return found;
    };
    const persons = { viewer: 403, member: 403, owner: 403, 'viewer without texts': 403, 'share link': 403 };
    const none = Object.fromEntries(SCOPES.map((scope) => [`token ${scope}`, 403]));
    expect(await statuses('GET', '/api/v1/status')).toEqual({ ...persons, ...none });
    expect(await statuses('GET', '/api/v1/people')).toEqual({ ...persons, owner: 200, ...none });
    expect(await statuses('GET', '/api/v1/logs')).toEqual({
      viewer: 200,
      member: 200,
      owner: 200,
      'viewer without texts': 200,
      'share link': 403,
      ...none,
      'token read': 200,
    });
    expect(await statuses('POST', '/api/v1/keys', { name: 'k' })).toEqual({
      ...persons,
      member: 201,
      owner: 201,
      ...none,
      'token keys': 201,
    });
    expect(await statuses('GET', `/api/v1/logs/${idAt(4)}/request`)).toEqual({
      viewer: 200,
      member: 200,
      owner: 200,
      'viewer without texts': 403,
      'share link': 403,
      ...none,
      'token bodies': 200,
    });
    const searched = await statuses('GET', '/api/v1/logs?q=lions');
    expect(searched).toMatchObject({
      viewer: 200,
      'viewer without texts': 403,
      'token read': 403,
      'token bodies': 403,
    });
  });

  test('who may not read texts gives no token that may', async () => {
    const restricted = askers.get('token keys') ?? {};
    expect((await ask('POST', '/api/v1/read-tokens', restricted, { name: 'x', texts: true })).status).toBe(403);
    expect((await ask('POST', '/api/v1/read-tokens', restricted, { name: 'x' })).status).toBe(201);
  });
});
