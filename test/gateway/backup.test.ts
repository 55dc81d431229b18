/** `tollgate backup` and `restore` on a whole gateway that works meanwhile: what comes back, and which keys work. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request as requestHttp, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { embeddedUrl } from '../../bench/kill/gateway-database.ts';
import { verifyRollups } from '../../src/control/log/verify-rollups.ts';
import { runTollgate } from './run-tollgate.ts';
import { asRecord, readAdminFile, startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-5-2025-08-07',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
});

let gateway: TestGateway;
let database: pg.Client;
let provider: Server;
/** Answers of the calls that the provider was asked to keep waiting. */
const held: ServerResponse[] = [];

function answer(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER);
}

beforeAll(async () => {
  provider = createServer((request, response) => {
    request.resume();
    if (request.headers['x-hold'] === undefined) answer(response);
    else held.push(response);
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const address: AddressInfo | string | null = provider.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  gateway = await startGateway({ env: { TOLLGATE_UPSTREAM_OPENAI: `http://127.0.0.1:${port}` } });
  database = new pg.Client({ connectionString: embeddedUrl(gateway.dataDir) });
  await database.connect();
});
afterAll(async () => {
  for (const response of held) response.destroy();
  await database.end();
  await gateway.stop();
  provider.closeAllConnections();
  provider.close();
});

async function call(key: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${gateway.base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-gateway-key': key, authorization: 'Bearer sk-test', 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'Hi' }] }),
  });
}

const tollgate = (...args: readonly string[]) => runTollgate(gateway.dataDir, args);

async function listOutcomes(): Promise<readonly string[]> {
  const { rows } = await database.query<{ outcome: string }>(
    'select outcome from llm_requests order by requested_at, id',
  );
  return rows.map(({ outcome }) => outcome);
}

function untilStored(calls: number): Promise<unknown> {
  return waitUntil(`${calls} calls are stored`, async () =>
    (await listOutcomes()).length === calls ? true : undefined,
  );
}

test('a gateway goes back to the moment of its backup: the keys of then work at once, later ones do not', async () => {
  const file = join(gateway.dataDir, 'monday.backup');
  for (let index = 0; index < 3; index += 1)
    expect((await call(gateway.key, { 'x-gateway-trace-id': 'run' })).status).toBe(200);
  const waiting = call(gateway.key, { 'x-hold': 'yes' });
  await waitUntil('the held call is known to be under way', async () => {
    const { rowCount } = await database.query('select from llm_open_calls');
    return rowCount === 1 ? true : undefined;
  });

  const made = await tollgate('backup', file);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(made.stdout).toContain(
    '  holds     3 calls, 3 bodies, 3 texts, 1 runs, 1 calls under way, 2 keys, 0 declared prices\n',
  );
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const { key } = asRecord(await gateway.api('/api/v1/keys', { method: 'POST', body: '{"name":"later"}' }));
  const later = String(key);
  expect((await call(later)).status).toBe(200);
  await untilStored(4);

  const refusals = await Promise.all([
    tollgate('backup', file),
    tollgate('restore', file),
    tollgate('restore', file, '--replace'),
  ]);
  expect(refusals.map(({ code }) => code)).toEqual([1, 1, 1]);
  expect(refusals[0]?.stderr).toContain('exists already; give another name, or --force to replace it');
  expect(refusals[1]?.stderr).toContain(
    'this gateway has calls (4), calls under way (1), bodies (4), texts (4), runs (1), keys (2);',
  );
  expect(refusals[2]?.stderr).toContain('nobody can be asked here');
  expect((await call(later)).status).toBe(200);

  const restored = await tollgate('restore', file, '--replace', '--yes', '--json');
  expect(restored).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(restored.stdout)).toMatchObject({ keys_published: true, interrupted: 1 });
  expect((await call(later)).status).toBe(401);
  expect((await call(gateway.key)).status).toBe(200);
  await untilStored(5);
  expect(await listOutcomes()).toEqual(['ok', 'ok', 'ok', 'interrupted', 'ok']);

  // The call of before is still under way, and its real ending takes the place of the one that was supposed.
  for (const response of held) answer(response);
  expect((await waiting).status).toBe(200);
  await waitUntil('it is ok in the end', async () =>
    (await listOutcomes()).every((one) => one === 'ok') ? true : undefined,
  );
  expect(await verifyRollups(database)).toEqual([]);
});

test('a file that is damaged, or no backup, changes nothing, and the answer comes while it is being sent', async () => {
  const file = join(gateway.dataDir, 'monday.backup');
  const before = await listOutcomes();
  const bytes = readFileSync(file);
  const cut = join(gateway.dataDir, 'cut.backup');
  writeFileSync(cut, bytes.subarray(0, bytes.length - 9));
  const checked = await tollgate('backup', '--check', cut);
  expect(checked).toMatchObject({ code: 1, stdout: '' });
  expect(checked.stderr).toContain('The file is damaged');
  const { token } = readAdminFile(gateway.dataDir);
  const send = (body: Uint8Array<ArrayBuffer>) =>
    fetch(`${gateway.adminBase}/api/v1/restore?replace=true`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body,
    });
  const answers = [
    await send(new Uint8Array(bytes.subarray(0, bytes.length - 9))),
    // More than any other route takes.
    await send(new Uint8Array(1_000_000)),
  ];
  expect(answers.map(({ status }) => status)).toEqual([400, 400]);
  expect(await answers[0]?.json()).toMatchObject({ error: { code: 'backup_damaged' } });
  expect(await answers[1]?.json()).toMatchObject({ error: { code: 'not_a_backup' } });
  expect(await listOutcomes()).toEqual(before);
  expect((await call(gateway.key)).status).toBe(200);
  await untilStored(before.length + 1);
});

test('what is refused before it was read whole leaves the connection fit for the next request', async () => {
  const { url, token } = readAdminFile(gateway.dataDir);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const options = { agent, method: 'POST', headers: { authorization: `Bearer ${token}` } };
  const send = () =>
    new Promise((resolve, reject) => {
      const asked = requestHttp(`${url}/api/v1/restore?replace=true`, options, (answer) => {
        answer.resume().once('end', () => resolve([answer.statusCode, asked.reusedSocket]));
      });
      asked.once('error', reject).end(Buffer.alloc(1_000_000));
    });
  expect([await send(), await send()]).toEqual([
    [400, false],
    [400, true],
  ]);
  agent.destroy();
});

test('a client that goes away in the middle of its file changes nothing, and makes room for the next', async () => {
  const bytes = readFileSync(join(gateway.dataDir, 'monday.backup'));
  const before = await listOutcomes();
  const { url, token } = readAdminFile(gateway.dataDir);
  const authorization = `Bearer ${token}`;
  const upload = requestHttp(`${url}/api/v1/restore?replace=true`, { method: 'POST', headers: { authorization } });
  upload.on('error', () => {});
  const countUndone = () => gateway.output().split('a restore was undone').length;
  const undone = countUndone();
  await new Promise((resolve) => upload.write(bytes.subarray(0, bytes.length - 40), resolve));
  upload.destroy();
  await waitUntil('it is undone', () => (countUndone() > undone ? true : undefined));
  const ask = () => fetch(`${url}/api/v1/backup`, { headers: { authorization } });
  // A connection that is kept from a refused upload may be closed under the first.
  const answer = await ask().catch(ask);
  expect(answer.status).toBe(200);
  expect((await answer.bytes()).length).toBeGreaterThan(1_000);
  expect(await listOutcomes()).toEqual(before);
  expect((await call(gateway.key)).status).toBe(200);
});

test('a budget has spent what the backup says, and its calls add to that, also after the proxy that made them has ended', async () => {
  const file = join(gateway.dataDir, 'budget.backup');
  const { id } = asRecord(
    await gateway.api('/api/v1/budgets', {
      method: 'POST',
      body: '{"name":"All","scope":"account","amount_usd":"100","period":"once","hard":true}',
    }),
  );
  const untilSpent = (usd: string) =>
    waitUntil(`${usd} is spent, and stored`, async () => {
      const { rows } = await database.query<{ spent: string }>(
        'select trim_scale(sum(spent))::text as spent from budget_spend where budget_id = $1',
        [id],
      );
      const shown = JSON.stringify(await gateway.api(`/api/v1/budgets/${id}`));
      return rows[0]?.spent === usd && shown.includes(`"spent_usd":"${usd}","reserved_usd":"0"`) ? true : undefined;
    });
  for (let index = 0; index < 2; index += 1) expect((await call(gateway.key)).status).toBe(200);
  await untilSpent('0.0000625');
  expect(await tollgate('backup', file)).toMatchObject({ code: 0 });
  for (let index = 0; index < 2; index += 1) expect((await call(gateway.key)).status).toBe(200);
  await untilSpent('0.000125');
  expect(await tollgate('restore', file, '--replace', '--yes')).toMatchObject({ code: 0 });
  await untilSpent('0.0000625');
  expect((await call(gateway.key)).status).toBe(200);
  await untilSpent('0.00009375');
  await gateway.api('/api/v1/restart', { method: 'POST' });
  await waitUntil(
    'the first process was taken in',
    async () => {
      const { rowCount } = await database.query('select from budget_process_spend');
      return rowCount === 0 ? true : undefined;
    },
    120_000,
  );
  await untilSpent('0.00009375');
});
