/** Signing in by an identity provider, against a real one: there and back as a browser does it. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer, request as requestHttp, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import { openEndedSessions } from '../../src/control/admin/ended-sessions.ts';
import { createPasswords } from '../../src/control/admin/passwords.ts';
import { bareAdminDeps } from '../support/admin-deps.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type Forgery,
  startOidcProvider,
  type TestProvider,
} from '../support/oidc-provider.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres } from '../support/postgres.ts';

const ORIGIN = 'http://127.0.0.1:4142';
const HOUR_MS = 3_600_000;
let pool: pg.Pool;
let provider: TestProvider;
/** For outgoing connections, and what came through it. */
let proxy: Server;
const throughProxy: string[] = [];
let stop: () => Promise<void>;
let nowMs = Date.now();
let app: ReturnType<typeof createAdminApp>;

beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL');
  const server = await startPostgres(kind);
  pool = openTestPool(await server.createDatabase('oidc'));
  await pool.query("insert into accounts (id, name) values (2, 'second')");
  provider = await startOidcProvider(() => `${ORIGIN}/api/v1/oidc/callback`);
  proxy = createServer((request, response) => {
    throughProxy.push(`${request.method} ${request.url}`);
    const further = requestHttp(request.url ?? '', { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(further);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  app = createApp(null);
  stop = async () => {
    await provider.stop();
    proxy.close();
    await pool.end();
    await server.remove();
  };
}, 60_000);

function createApp(
  httpProxy: string | null,
  noProxy: string | null = null,
  issuer: string | null = provider.issuer,
): ReturnType<typeof createAdminApp> {
  const bare = bareAdminDeps({ adminToken: 'x' });
  return createAdminApp(
    bareAdminDeps({
      alertSending: { ...bare.alertSending, egress: { httpProxy, httpsProxy: null, noProxy } },
      adminToken: 'the-admin-token-of-this-gateway-here',
      database: () => pool,
      endedSessions: openEndedSessions(null, pino({ level: 'silent' }), () => nowMs),
      nowMs: () => nowMs,
      oidc:
        issuer === null
          ? null
          : {
              issuer,
              clientId: CLIENT_ID,
              clientSecret: CLIENT_SECRET,
              name: 'Test provider',
              scopes: 'openid email profile groups',
              groupsClaim: 'groups',
              grants: [
                { group: 'engineers', accountId: 1, role: 'member', mayReadBodies: true },
                { group: 'leads', accountId: 1, role: 'owner', mayReadBodies: true },
                { group: 'finance', accountId: 2, role: 'viewer', mayReadBodies: false },
              ],
              sessionHours: 12,
            },
    }),
  );
}
afterAll(() => stop());
beforeEach(() => {
  nowMs = Date.now();
  provider.forgery = null;
});

function ask(path: string, cookie: string, headers: Record<string, string> = {}): Promise<Response> {
  return Promise.resolve(
    app.request(ORIGIN + path, { headers: { host: '127.0.0.1:4142', origin: ORIGIN, cookie, ...headers } }),
  );
}

function cookiesOf(response: Response): Record<string, string> {
  return Object.fromEntries(
    response.headers.getSetCookie().map((line) => {
      const [pair = ''] = line.split(';');
      return [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
    }),
  );
}

const write = (cookies: Record<string, string>) =>
  Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join('; ');

/** What a browser does at the provider, with its forms for developers: signs in, consents. Returns the way back. */
async function passProvider(start: string, login: string): Promise<URL> {
  const jar: Record<string, string> = {};
  let url = start;
  let form: Record<string, string> | null = null;
  for (let step = 0; step < 12; step += 1) {
    const response: Response = await fetch(url, {
      redirect: 'manual',
      headers: {
        cookie: write(jar),
        ...(form === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form === null ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    Object.assign(jar, cookiesOf(response));
    const text = await response.text();
    const location = response.headers.get('location');
    if (location === null) {
      const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1];
      if (prompt === undefined) throw new Error(`${url}: ${response.status} ${text.slice(0, 500)}`);
      form = prompt === 'login' ? { prompt, login, password: 'x' } : { prompt };
      continue;
    }
    form = null;
    url = new URL(location, url).href;
    if (url.startsWith(ORIGIN)) return new URL(url);
  }
  throw new Error(`no way back from ${url}`);
}

interface SignedIn {
  readonly location: string | null;
  readonly cookie: string;
}

async function signIn(
  login: string,
  change: (back: URL, cookie: string) => string = (_back, cookie) => cookie,
): Promise<SignedIn> {
  const begun = await ask('/api/v1/oidc/sign-in?next=/costs', '', { 'sec-fetch-site': 'same-origin' });
  expect(begun.status).toBe(302);
  const back = await passProvider(begun.headers.get('location') ?? '', login);
  const cookie = change(back, write(cookiesOf(begun)));
  const answer = await ask(back.pathname + back.search, cookie, { 'sec-fetch-site': 'cross-site' });
  const session = cookiesOf(answer)['tollgate_session'];
  return {
    location: answer.headers.get('location'),
    cookie: session === undefined ? '' : `tollgate_session=${session}`,
  };
}

async function who(cookie: string) {
  const response = await ask('/api/v1/session', cookie);
  return response.status === 200 ? await response.json() : response.status;
}

function addAccount(
  login: string,
  groups: readonly string[],
  email = `${login}@example.com`,
  emailVerified = true,
): void {
  provider.accounts.set(login, { email, emailVerified, name: `Name of ${login}`, groups });
}

test('a person comes in with the role of their groups, and is sent to where they wanted', async () => {
  addAccount('ann', ['engineers', 'leads', 'others']);
  const { location, cookie } = await signIn('ann');
  expect(location).toBe('/costs');
  expect(await who(cookie)).toMatchObject({
    kind: 'person',
    name: 'ann@example.com',
    account: { id: 1 },
    role: 'owner',
    may_read_bodies: true,
    sign_out_url: '/api/v1/oidc/sign-out',
  });
});

test('groups that change count at the next sign-in, and who is in none does not come in', async () => {
  addAccount('bob', ['engineers', 'finance']);
  const first = await signIn('bob');
  expect(await who(first.cookie)).toMatchObject({ role: 'member', accounts: 2 });
  addAccount('bob', ['finance']);
  const second = await signIn('bob');
  expect(await who(second.cookie)).toMatchObject({ account: { id: 2 }, role: 'viewer', may_read_bodies: false });
  // Memberships are read for each request, so the session of before has lost it, too.
  expect(await who(first.cookie)).toMatchObject({ account: { id: 2 }, accounts: 1 });
  addAccount('bob', ['strangers']);
  expect(await signIn('bob')).toEqual({ location: '/login#problem=no_account', cookie: '' });
  expect(await who(second.cookie)).toBe(401);
});

test('the provider is asked through the proxy for outgoing connections, unless its host is exempt', async () => {
  const direct = app;
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  addAccount('pia', ['engineers']);
  try {
    app = createApp(address, '127.0.0.1');
    expect(await who((await signIn('pia')).cookie)).toMatchObject({ role: 'member' });
    expect(throughProxy).toEqual([]);
    app = createApp(address);
    expect(await who((await signIn('pia')).cookie)).toMatchObject({ role: 'member' });
  } finally {
    app = direct;
  }
  expect(throughProxy).toContain(`GET ${provider.issuer}/.well-known/openid-configuration`);
  expect(throughProxy.map((line) => line.split(' ')[0])).toEqual(['GET', 'POST', 'GET', 'GET']);
});

test('the session ends after its hours, and by signing out here and there', async () => {
  addAccount('eve', ['engineers']);
  const { cookie } = await signIn('eve');
  nowMs += 12 * HOUR_MS - 10_000;
  expect(await who(cookie)).toMatchObject({ name: 'eve@example.com' });
  nowMs += 20_000;
  expect(await who(cookie)).toBe(401);
  nowMs = Date.now();
  expect(await who(cookie)).toMatchObject({ name: 'eve@example.com' });
  const out = await ask('/api/v1/oidc/sign-out', cookie);
  expect(out.headers.get('location')).toContain(`${provider.issuer}/session/end?`);
  expect(out.headers.get('location')).toContain(encodeURIComponent(`${ORIGIN}/login`));
  expect(await who(cookie)).toBe(401);
});

test('an address that an invited person has is theirs only if the provider has verified it; their password is gone then', async () => {
  const { rows } = await pool.query<{ id: number }>(
    "insert into people (email, name, password_hash) values ('carl@example.com', 'Carl', 'x') returning id",
  );
  await pool.query("insert into memberships (account_id, person_id, role) values (2, $1, 'owner')", [rows[0]?.id]);
  addAccount('carl', ['engineers'], 'Carl@example.com', false);
  expect(await signIn('carl')).toEqual({ location: '/login#problem=email_taken', cookie: '' });
  addAccount('carl', ['engineers'], 'Carl@example.com');
  const { cookie } = await signIn('carl');
  expect(await who(cookie)).toMatchObject({ person_id: rows[0]?.id, accounts: 2, has_password: false });
});

test('a role from an invitation stays, whatever the groups give and take', async () => {
  const { rows } = await pool.query<{ id: number }>(
    "insert into people (email, name) values ('olga@example.com', 'Olga') returning id",
  );
  await pool.query("insert into memberships (account_id, person_id, role) values (2, $1, 'owner')", [rows[0]?.id]);
  addAccount('olga', ['finance', 'engineers']);
  const { cookie } = await signIn('olga');
  expect(await who(cookie)).toMatchObject({ account: { id: 1 }, role: 'member', accounts: 2 });
  addAccount('olga', ['strangers']);
  expect(await who((await signIn('olga')).cookie)).toMatchObject({ account: { id: 2 }, role: 'owner', accounts: 1 });
});

test('a person of the provider has no password here, which would let them in after the provider no longer does', async () => {
  addAccount('paul', ['engineers']);
  const { cookie } = await signIn('paul');
  const send = (method: string, path: string, body: object, more: Record<string, string> = {}) =>
    Promise.resolve(
      app.request(ORIGIN + path, {
        method,
        headers: { host: '127.0.0.1:4142', origin: ORIGIN, 'content-type': 'application/json', ...more },
        body: JSON.stringify(body),
      }),
    );
  const password = 'correct horse battery staple';
  const set = await send('PUT', '/api/v1/password', { password }, { cookie });
  expect(set.status).toBe(403);
  expect(await set.json()).toMatchObject({
    error: { message: 'You sign in through your identity provider, which keeps your password.' },
  });
  // One that a release before has let them set.
  await pool.query("update people set password_hash = $1 where email = 'paul@example.com'", [
    await createPasswords().hash(password),
  ]);
  const signedIn = await send('POST', '/api/v1/session', { email: 'paul@example.com', password });
  expect(signedIn.status).toBe(401);
});

test('people of a provider that was turned off set a password and come in with it, until it is turned on again', async () => {
  addAccount('petra', ['engineers']);
  const { cookie } = await signIn('petra');
  const headers = { host: '127.0.0.1:4142', origin: ORIGIN, 'content-type': 'application/json' };
  const send = (method: string, path: string, body: object, more: Record<string, string> = {}) =>
    Promise.resolve(
      app.request(ORIGIN + path, { method, headers: { ...headers, ...more }, body: JSON.stringify(body) }),
    );
  const password = 'correct horse battery staple';
  const proof = { email: 'petra@example.com', password };
  const withProvider = app;
  app = createApp(null, null, null);
  const set = await send('PUT', '/api/v1/password', { password }, { cookie });
  const off = await send('POST', '/api/v1/session', proof);
  app = withProvider;
  const on = await send('POST', '/api/v1/session', proof);
  expect([set.status, off.status, on.status]).toEqual([204, 204, 401]);
});

const STRANGER = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const FORGERIES: Readonly<Record<string, Forgery>> = {
  'signed by somebody else': (claims, sign) => sign(claims, STRANGER),
  'signed by nobody': (claims, sign) => sign(claims, undefined, 'none'),
  'without its signature': (claims, sign) => sign(claims).replace(/[^.]+$/, ''),
  'changed after it was signed': (claims, sign) =>
    sign(claims).replace(
      /\.[^.]+\./,
      `.${Buffer.from(JSON.stringify({ ...claims, sub: 'ann' })).toString('base64url')}.`,
    ),
  'for another client': (claims, sign) => sign({ ...claims, aud: 'another' }),
  'of another issuer': (claims, sign) => sign({ ...claims, iss: 'https://evil.example' }),
  'of another sign-in': (claims, sign) => sign({ ...claims, nonce: 'another' }),
  'that has expired': (claims, sign) => sign({ ...claims, iat: 1_700_000_000, exp: 1_700_003_600 }),
};

test.each(Object.keys(FORGERIES))('an ID token %s signs nobody in', async (name) => {
  addAccount('mallory', ['leads']);
  provider.forgery = FORGERIES[name] ?? null;
  expect(await signIn('mallory')).toEqual({ location: '/login#problem=sign_in_refused', cookie: '' });
});

test('an untouched ID token of the same person does', async () => {
  addAccount('mallory', ['leads']);
  provider.forgery = (claims, sign) => sign(claims);
  expect((await signIn('mallory')).location).toBe('/costs');
});

test('a way back that this browser did not begin, begins another, or comes too late is refused', async () => {
  addAccount('dan', ['leads']);
  expect((await signIn('dan', () => '')).location).toBe('/login#problem=too_late');
  const other = write(cookiesOf(await ask('/api/v1/oidc/sign-in', '')));
  expect((await signIn('dan', () => other)).location).toBe('/login#problem=sign_in_refused');
  const changed = (back: URL, cookie: string) => {
    back.searchParams.set('state', 'another');
    return cookie;
  };
  expect((await signIn('dan', changed)).location).toBe('/login#problem=sign_in_refused');
  const late = (_back: URL, cookie: string) => {
    nowMs += 601_000;
    return cookie;
  };
  expect((await signIn('dan', late)).location).toBe('/login#problem=too_late');
});

test('nobody is led to another site after the sign-in', async () => {
  for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example']) {
    const begun = await ask(`/api/v1/oidc/sign-in?next=${encodeURIComponent(next)}`, '');
    addAccount('fay', ['leads']);
    const back = await passProvider(begun.headers.get('location') ?? '', 'fay');
    const answer = await ask(back.pathname + back.search, write(cookiesOf(begun)));
    expect(answer.headers.get('location')).toBe('/');
  }
});

interface NotedRow {
  readonly action: string;
  readonly accountId: number;
  readonly actor: string;
  readonly subject: string | null;
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
}

async function lastSeq(): Promise<number> {
  const { rows } = await pool.query<{ seq: number }>('select seq from audit_head');
  return rows[0]?.seq ?? 0;
}

async function notedSince(seq: number): Promise<readonly NotedRow[]> {
  const { rows } = await pool.query<NotedRow>(
    `select action, account_id as "accountId", actor_kind || ' ' || actor_name as actor, subject_id as subject, before, after
     from audit_log where seq > $1 order by seq`,
    [seq],
  );
  return rows;
}

test('what a sign-in changes of memberships has rows with before and after, and a sign-in that changes nothing has none', async () => {
  let seq = await lastSeq();
  const next = async () => {
    const rows = await notedSince(seq);
    seq = await lastSeq();
    return rows;
  };
  const actor = 'person nora@example.com';
  const person = { email: 'nora@example.com', name: 'Name of nora', source: 'groups', is_issued: true };
  const asMember = { ...person, role: 'member', may_read_bodies: true };
  addAccount('nora', ['engineers']);
  await signIn('nora');
  const [joined, begun, ...more] = await next();
  expect(joined).toMatchObject({ action: 'person.join', accountId: 1, actor, before: null, after: asMember });
  expect([begun?.action, begun?.subject, more]).toEqual(['session.begin', joined?.subject, []]);

  addAccount('nora', ['leads', 'finance']);
  await signIn('nora');
  expect(await next()).toMatchObject([
    { action: 'person.change', accountId: 1, actor, before: asMember, after: { ...asMember, role: 'owner' } },
    { action: 'person.join', accountId: 2, actor, before: null, after: { ...person, role: 'viewer' } },
    { action: 'session.begin' },
  ]);
  await signIn('nora');
  expect((await next()).map(({ action }) => action)).toEqual(['session.begin']);

  addAccount('nora', ['strangers']);
  await signIn('nora');
  expect(await next()).toMatchObject([
    { action: 'person.remove', accountId: 1, actor, before: { role: 'owner' }, after: null },
    { action: 'person.remove', accountId: 2, actor, before: { role: 'viewer' }, after: null },
    { action: 'session.refused', actor: 'nobody not signed in' },
  ]);
});

test('that the provider vouches for an invited person from now on has a row, as has another address', async () => {
  const { rows } = await pool.query<{ id: number }>(
    "insert into people (email, name, password_hash) values ('ines@example.com', 'Ines', 'x') returning id",
  );
  await pool.query("insert into memberships (account_id, person_id, role) values (2, $1, 'owner')", [rows[0]?.id]);
  let seq = await lastSeq();
  addAccount('ines', ['strangers']);
  await signIn('ines');
  expect((await notedSince(seq))[0]).toMatchObject({
    action: 'person.change',
    accountId: 2,
    before: { name: 'Ines', role: 'owner', source: 'invited', has_password: true, is_issued: false },
    after: { name: 'Name of ines', role: 'owner', source: 'invited', has_password: false, is_issued: true },
  });
  seq = await lastSeq();
  addAccount('ines', ['strangers'], 'ines@new.example.com');
  await signIn('ines');
  expect((await notedSince(seq))[0]).toMatchObject({
    action: 'person.change',
    before: { email: 'ines@example.com' },
    after: { email: 'ines@new.example.com' },
  });
});

test('sign-ins that are refused have rows, which say why and whom the provider named; a flood of them has a few', async () => {
  app = createApp(null);
  let seq = await lastSeq();
  const refusal = async () => {
    const rows = await notedSince(seq);
    seq = await lastSeq();
    return rows.map(({ action, actor, after }) => ({ action, actor, after }));
  };
  const row = (code: string, email: string | null) => [
    { action: 'session.refused', actor: 'nobody not signed in', after: { code, email, not_noted_before: 0 } },
  ];
  addAccount('zed', ['strangers']);
  await signIn('zed');
  expect(await refusal()).toEqual(row('no_account', 'zed@example.com'));
  await pool.query("insert into people (email, name) values ('taken@example.com', 'T')");
  addAccount('zoe', ['engineers'], 'taken@example.com', false);
  await signIn('zoe');
  expect(await refusal()).toEqual(row('email_taken', 'taken@example.com'));
  addAccount('zac', ['engineers']);
  provider.forgery = FORGERIES['for another client'] ?? null;
  await signIn('zac');
  expect(await refusal()).toEqual(row('sign_in_refused', null));
  // Who did not begin here has not tried.
  await ask('/api/v1/oidc/callback?code=x&state=y', '');
  expect(await refusal()).toEqual([]);
  for (let tries = 0; tries < 20; tries += 1) await signIn('zac');
  expect(await refusal()).toHaveLength(17);
});

test('signing out by the provider has a row, and only of who was signed in', async () => {
  addAccount('lea', ['engineers']);
  const { cookie } = await signIn('lea');
  const seq = await lastSeq();
  await ask('/api/v1/oidc/sign-out', cookie);
  await ask('/api/v1/oidc/sign-out', cookie);
  await ask('/api/v1/oidc/sign-out', '');
  expect(await notedSince(seq)).toMatchObject([
    { action: 'session.end', accountId: 1, actor: 'person lea@example.com' },
  ]);
});
