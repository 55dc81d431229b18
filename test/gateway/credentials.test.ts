/** A credential that the gateway keeps: who gets it, where it is not, and what happens when its key is another. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { findIn, openDatabase, readApi, readCommands, readDataFiles, readTables } from './canary-sinks.ts';
import { asRecord, makeDataDir, startGateway, type TestGateway } from './start-gateway.ts';

const SECRET = `sk-proj-${randomBytes(24).toString('hex')}`;
const [first, second] = Array.from({ length: 2 }, () => randomBytes(32).toString('base64'));
const dataDir = makeDataDir();
const seen: IncomingHttpHeaders[] = [];
/** What alerts sent. */
const told: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
const SLACK_PATH = `/services/${randomBytes(24).toString('hex')}`;
let upstream: Server;
let gateway: TestGateway;

function start(keys: string): Promise<TestGateway> {
  const address = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  return startGateway({
    dataDir,
    env: {
      TOLLGATE_CREDENTIALS_KEY: keys,
      TOLLGATE_UPSTREAM_OPENAI: address,
      TOLLGATE_UPSTREAM_OPENAI_TEAM: address,
      TOLLGATE_ALERT_HOSTS: '127.0.0.1',
    },
  });
}

async function restart(keys: string): Promise<void> {
  await gateway.stop({ remove: false });
  gateway = await start(keys);
}

/** Returns the status, the refusal's code, and what the provider was sent as credentials. */
async function call(headers: Readonly<Record<string, string>>): Promise<readonly unknown[]> {
  seen.length = 0;
  const answer = await fetch(`${gateway.base}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-key': gateway.key,
      'x-gateway-provider': 'openai',
      ...headers,
    },
    body: JSON.stringify({ model: 'gpt-5', messages: [] }),
  });
  await answer.arrayBuffer();
  return [answer.status, answer.headers.get('x-gateway-error'), seen.map(({ authorization }) => authorization ?? null)];
}

const TEAM = { 'x-gateway-provider-alias': 'Team' };

let [webhook, slack]: readonly Record<string, unknown>[] = [];

async function addDestination(kind: string, path: string): Promise<Record<string, unknown>> {
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}${path}`;
  const body = JSON.stringify({ kind, name: kind, url });
  return asRecord(await gateway.api('/api/v1/alert-destinations', { method: 'POST', body }));
}

/** Returns the paths that were told, and whether the webhook's signature is right. */
async function tell(...destinations: readonly (Record<string, unknown> | undefined)[]): Promise<readonly unknown[]> {
  told.length = 0;
  const answers: unknown[] = [];
  for (const one of destinations)
    answers.push(await gateway.api(`/api/v1/alert-destinations/${String(one?.['id'])}/test`, { method: 'POST' }));
  const verifier = new Webhook(String(webhook?.['secret']));
  return told.map(({ path, headers, body }) => {
    if (path !== '/hook') return path;
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name])]);
    verifier.verify(body, Object.fromEntries(names));
    return `${path} signed`;
  });
}

beforeAll(async () => {
  upstream = createServer((request, response) => {
    const url = request.url ?? '';
    if (!url.startsWith('/v1/')) {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => {
        told.push({ path: url, headers: request.headers, body });
        response.end();
      });
      return;
    }
    seen.push(request.headers);
    request.resume().on('end', () => {
      response.writeHead(400, { 'content-type': 'application/json' });
      // The worst that a provider can do: it repeats the credential.
      response.end(JSON.stringify({ error: { message: `no such model for ${request.headers.authorization ?? ''}` } }));
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  gateway = await start(`${first}`);
}, 120_000);

afterAll(async () => {
  await gateway.stop();
  upstream.close();
});

test('a call by the alias has it, unless it brings its own, and no other call has it', async () => {
  expect(await call(TEAM)).toEqual([400, null, [null]]);
  const kept = asRecord(
    await gateway.api('/api/v1/credentials/openai/team', { method: 'PUT', body: JSON.stringify({ value: SECRET }) }),
  );
  expect(kept).toMatchObject({ provider: 'openai', alias: 'team', last4: SECRET.slice(-4), state: 'usable' });
  await expect.poll(() => call(TEAM)).toEqual([400, null, [`Bearer ${SECRET}`]]);
  expect(await call({ ...TEAM, authorization: 'Bearer kept-by-gateway' })).toEqual([400, null, [`Bearer ${SECRET}`]]);
  expect(await call({ ...TEAM, authorization: 'Bearer sk-proj-myown1234567' })).toEqual([
    400,
    null,
    ['Bearer sk-proj-myown1234567'],
  ]);
  expect(await call({})).toEqual([400, null, [null]]);
  const other = asRecord(
    await gateway.api('/api/v1/accounts', { method: 'POST', body: JSON.stringify({ name: 'b' }) }),
  );
  const theirs = asRecord(
    await gateway.api('/api/v1/keys', {
      method: 'POST',
      headers: { 'x-tollgate-account': String(other['id']) },
      body: JSON.stringify({ name: 'theirs' }),
    }),
  );
  expect(await call({ ...TEAM, 'x-gateway-key': String(theirs['key']) })).toEqual([400, null, [null]]);
});

test('one of another provider, or for an alias that is not there, is refused', async () => {
  const put = (path: string, value: string) =>
    gateway.api(`/api/v1/credentials/${path}`, { method: 'PUT', body: JSON.stringify({ value }) });
  await expect(put('openai/team', 'sk-ant-api03-AAAAAAAAAAAAAAAA')).rejects.toThrow('a credential of anthropic');
  await expect(put('openai/nowhere', SECRET)).rejects.toThrow('TOLLGATE_UPSTREAM_OPENAI_NOWHERE');
});

test('secrets of where alerts go are sealed with the same key', async () => {
  [webhook, slack] = [await addDestination('webhook', '/hook'), await addDestination('slack', SLACK_PATH)];
  expect(webhook).toMatchObject({ is_sealed: true });
  expect(slack).toMatchObject({ is_sealed: true, address: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+\/…$/) });
  expect(await tell(webhook, slack)).toEqual(['/hook signed', SLACK_PATH]);
});

test('it is nowhere in the clear: database, files, API, metrics, commands, output', async () => {
  const answer = await fetch(`${gateway.base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-key': gateway.key, ...TEAM },
    body: JSON.stringify({ model: 'gpt-5', messages: [] }),
  });
  await answer.arrayBuffer();
  const id = answer.headers.get('x-gateway-request-id') ?? '';
  expect(await gateway.waitForLog(id)).toMatchObject({ error_message: 'no such model for Bearer ***' });
  const { token } = JSON.parse(
    readDataFiles(dataDir)
      .find(({ name }) => name === 'file admin.json')
      ?.content.toString() ?? '',
  );
  const backup = await fetch(`${gateway.adminBase}/api/v1/backup`, { headers: { authorization: `Bearer ${token}` } });
  const sinks = [
    ...(await readTables(dataDir)),
    ...readDataFiles(dataDir),
    ...(await readApi(gateway, [id])),
    ...(await readCommands(gateway)),
    { name: 'backup', content: Buffer.from(await backup.arrayBuffer()) },
    { name: 'output', content: Buffer.from(gateway.output()) },
  ];
  expect(sinks.length).toBeGreaterThan(100);
  // The search finds what is there.
  expect(findIn(sinks, 'no such model for Bearer ***').length).toBeGreaterThan(0);
  for (const form of [SECRET, Buffer.from(SECRET).toString('base64').slice(0, 30), Buffer.from(SECRET).toString('hex')])
    expect(findIn(sinks, form)).toEqual([]);
  for (const secret of [SLACK_PATH.slice(10), String(webhook?.['secret']).slice(6)])
    expect(findIn(sinks, secret)).toEqual([]);
  for (const key of [first ?? '', Buffer.from(first ?? '', 'base64').toString('hex')])
    expect(findIn(sinks, key)).toEqual([]);
}, 60_000);

test('with another key calls that need it are refused and all others go on; with a former one beside it, it is rotated', async () => {
  await restart(`${second}`);
  expect(await call(TEAM)).toEqual([503, 'credential_unusable', []]);
  expect(await call({ ...TEAM, authorization: 'Bearer sk-proj-myown1234567' })).toEqual([
    400,
    null,
    ['Bearer sk-proj-myown1234567'],
  ]);
  expect(await call({})).toEqual([400, null, [null]]);
  expect(await gateway.api('/api/v1/credentials')).toMatchObject({ data: [{ state: 'not_opened' }] });
  expect(gateway.output().match(/kept credentials cannot be opened/g)).toHaveLength(1);
  const [doctor] = await readCommands(gateway);
  expect(doctor?.content.toString()).toContain('the kept credential of openai team cannot be used');

  expect(await tell(webhook, slack)).toEqual([]);
  expect(
    await gateway.api(`/api/v1/alert-destinations/${String(slack?.['id'])}/test`, { method: 'POST' }),
  ).toMatchObject({ is_sent: false, error: expect.stringContaining('TOLLGATE_CREDENTIALS_KEY') });
  // One of before there was a key is sealed at the next start.
  const database = openDatabase(dataDir);
  await database.connect();
  const address = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/services/before`;
  await database.query(
    "insert into alert_destinations (account_id, name, kind, address, created_by) values (1, 'old', 'slack', $1, 'me')",
    [address],
  );
  await database.end();

  await restart(`${second},${first}`);
  const listed = () => gateway.api('/api/v1/alert-destinations');
  await expect.poll(listed, { timeout: 20_000 }).toMatchObject({
    data: [{ is_sealed: true }, { is_sealed: true }, { name: 'old', is_sealed: true }],
  });
  const [, , old] = z.object({ data: z.array(z.record(z.string(), z.unknown())) }).parse(await listed()).data;
  expect(await call(TEAM)).toEqual([400, null, [`Bearer ${SECRET}`]]);
  expect(await gateway.api('/api/v1/credentials/rotate-key', { method: 'POST' })).toEqual({ rewrapped: 4, left: 0 });

  await restart(`${second}`);
  expect(await call(TEAM)).toEqual([400, null, [`Bearer ${SECRET}`]]);
  expect(await tell(webhook, slack, old)).toEqual(['/hook signed', SLACK_PATH, '/services/before']);
  expect(await gateway.api('/api/v1/credentials/openai/team', { method: 'DELETE' })).toEqual({ deleted: true });
  await expect.poll(() => call(TEAM)).toEqual([400, null, [null]]);
}, 180_000);
