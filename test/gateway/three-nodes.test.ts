/**
 * Three gateways on one PostgreSQL: one that keeps a year, one whose clock is 100 days ahead, and one that was started to
 * keep a month and is then killed for good, with records and an open call on its disk. In the end no row is missing.
 */
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { callBegin, callEnd, priceByToken } from '../support/call-fixtures.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { runTollgate } from './run-tollgate.ts';
import { type GatewayProcess, startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

const DAY_MS = 86_400_000;
const SHIFT_CLOCK = join(import.meta.dirname, '..', '..', 'bench', 'soak', 'shift-clock.mjs');
const OLD_CALLS = 20;
const CALLS = 15;
const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});

const [kind] = POSTGRES_KINDS;
const dir = mkdtempSync(join(tmpdir(), 'tollgate-three-'));
let server: TestPostgres;
let pool: pg.Pool;
let provider: Server;
let env: Readonly<Record<string, string>>;
const nodes: TestGateway[] = [];
const known = new Set<string>();

beforeAll(async () => {
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  server = await startPostgres(kind);
  const databaseUrl = await server.createEmptyDatabase('three_nodes');
  pool = openTestPool(databaseUrl);
  // A call that asks for a stream is never ended.
  provider = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      if (!body.includes('"stream":true')) {
        response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER);
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"id":"1","object":"chat.completion.chunk","choices":[]}\n\n');
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const address = provider.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  env = { DATABASE_URL: databaseUrl, TOLLGATE_UPSTREAM_OPENAI: `http://127.0.0.1:${port}` };
});

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  provider.closeAllConnections();
  provider.close();
  await pool.end();
  await server.remove();
  rmSync(dir, { recursive: true, force: true });
});

async function start(name: string, more: Readonly<Record<string, string>>): Promise<TestGateway> {
  const node = await startGateway({ env: { ...env, TOLLGATE_NODE: name, ...more } });
  nodes.push(node);
  return node;
}

async function call(node: TestGateway, traceId: string): Promise<void> {
  const response = await fetch(`${node.base}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer sk-test',
      'x-gateway-key': node.key,
      'x-gateway-trace-id': traceId,
    },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] }),
  });
  expect(response.status).toBe(200);
  await response.text();
  known.add(String(response.headers.get('x-gateway-request-id')));
}

async function openCall(node: TestGateway): Promise<AbortController> {
  const aborter = new AbortController();
  const response = await fetch(`${node.base}/v1/chat/completions`, {
    method: 'POST',
    signal: aborter.signal,
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-test', 'x-gateway-key': node.key },
    body: '{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"user","content":"hi"}]}',
  });
  await response.body?.getReader().read();
  known.add(String(response.headers.get('x-gateway-request-id')));
  return aborter;
}

/** As node `a` stored them 200 days ago. */
async function storeOldCalls(): Promise<void> {
  const requestedAtMs = Date.now() - 200 * DAY_MS;
  const session = await openIngestSession(pool);
  const entries = Array.from({ length: OLD_CALLS }, (_, index) => {
    const begin = callBegin(index + 1, { requestedAtMs: requestedAtMs + index, node: 'a' });
    known.add(begin.id);
    return { type: 'end', begin, end: callEnd(index + 1) } as const;
  });
  await session.ingest(buildBatch(entries, { process: 'p', priceCall: priceByToken, nowMs: requestedAtMs }).items);
  session.close();
  const { rows } = await pool.query<{ name: string }>(
    "select relname as name from pg_class where obj_description(oid, 'pg_class') like 'made late at %'",
  );
  for (const { name } of rows) await pool.query(`comment on table ${name} is null`);
}

async function storedIds(): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ id: string }>('select id from llm_requests');
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  return new Set(rows.map(({ id }) => id));
}

function missingFrom(ids: ReadonlySet<string>): readonly string[] {
  return [...known].filter((id) => !ids.has(id));
}

async function killForGood(node: TestGateway, children: readonly GatewayProcess[]): Promise<void> {
  for (const { pid } of [node.process, ...children]) if (typeof pid === 'number') process.kill(pid, 'SIGKILL');
  await waitUntil('its end', () => (node.process.signalCode === null ? undefined : true));
}

/** A copy that pauses in the middle of a record. */
function copyHalf(from: string, to: string): () => void {
  const rest: (() => void)[] = [];
  for (const name of readdirSync(from)) {
    mkdirSync(join(to, name), { recursive: true });
    for (const file of readdirSync(join(from, name))) {
      const bytes = readFileSync(join(from, name, file));
      const cut = file.startsWith('seg-') ? Math.floor((bytes.length * 2) / 3) : bytes.length;
      writeFileSync(join(to, name, file), bytes.subarray(0, cut));
      rest.push(() => appendFileSync(join(to, name, file), bytes.subarray(cut)));
    }
  }
  return () => {
    for (const finish of rest) finish();
  };
}

test('a wrong clock, a short setting and a node that is gone cost no row', async () => {
  const a = await start('a', { TOLLGATE_RETENTION_ROWS: '365', TOLLGATE_RETENTION_BODIES: '365' });
  await storeOldCalls();
  writeFileSync(join(dir, 'clock'), String(100 * DAY_MS));
  const [ahead, short] = await Promise.all([
    start('ahead', { NODE_OPTIONS: `--import ${SHIFT_CLOCK}`, SOAK_CLOCK_FILE: join(dir, 'clock') }),
    start('short', { TOLLGATE_RETENTION_ROWS: '30', TOLLGATE_RETENTION_BODIES: '1' }),
  ]);
  for (let number = 0; number < CALLS; number += 1)
    for (const node of [a, ahead, short]) await call(node, `run-${number % 3}`);
  await waitUntil('all rows', async () => (missingFrom(await storedIds()).length === 0 ? true : undefined));

  const { rows: dated } = await pool.query(
    `select node, min(requested_at) > now() - interval '10 minutes' and max(requested_at) < now() + interval '1 minute'
       as is_right, array_agg(distinct flag) as flags
     from llm_requests left join unnest(flags) as flag on true where requested_at > now() - interval '100 days'
     group by node order by node`,
  );
  expect(dated).toEqual([
    { node: 'a', is_right: true, flags: [null] },
    { node: 'ahead', is_right: true, flags: ['clock_skew'] },
    { node: 'short', is_right: true, flags: [null] },
  ]);
  const { rows: runs } = await pool.query(
    "select bool_and(ended_at - started_at < interval '10 minutes') as ok from llm_runs",
  );
  expect(runs).toEqual([{ ok: true }]);

  // Its control process stands still, so that what follows waits on its disk, and then all of it is gone.
  const children = await short.processes();
  process.kill(children.find(({ role }) => role === 'control')?.pid ?? 0, 'SIGSTOP');
  for (let number = 0; number < CALLS; number += 1) await call(short, 'run-late');
  const client = await openCall(short);
  await killForGood(short, children);
  client.abort();
  expect(missingFrom(await storedIds())).toHaveLength(CALLS + 1);
  await pool.query("update nodes set seen_at = seen_at - interval '16 minutes' where name = 'short'");

  const seen = await runTollgate(a.dataDir, ['doctor']);
  expect(seen.stdout).toMatch(/node ahead: its clock is 100 days ahead of the database’s/);
  expect(seen.stdout).toMatch(/node short: silent for \d+ m/);
  expect((await runTollgate(a.dataDir, ['settings'])).stdout).toMatch(/retention_rows +365/);

  const copy = join(dir, 'copy');
  const finish = copyHalf(join(short.dataDir, 'spool'), copy);
  const importing = runTollgate(a.dataDir, ['spool', 'import', copy]);
  const stranger = join(dir, 'stranger');
  cpSync(join(short.dataDir, 'spool'), stranger, { recursive: true });
  for (const name of readdirSync(stranger)) renameSync(join(stranger, name), join(stranger, `of-another-${name}`));
  const importingStranger = runTollgate(a.dataDir, ['spool', 'import', stranger]);
  await sleep(6_000);
  finish();
  const [imported, refused] = await Promise.all([importing, importingStranger]);
  expect(refused.stderr).toMatch(/no node of this database is known to have had of-another-/);
  expect(refused.code).toBe(1);
  expect(imported.stdout).toMatch(/^Stored: /);
  expect(imported.code).toBe(0);
  expect(missingFrom(await storedIds())).toEqual([]);
  const again = await runTollgate(a.dataDir, ['spool', 'import', short.dataDir]);
  expect(again.stdout).toMatch(
    /^Stored: .*\n.*When all of its spool is here: \S*tollgate nodes forget short --data-dir \S+\n$/,
  );
  expect(again.code).toBe(0);

  const ids = await storedIds();
  expect(missingFrom(ids)).toEqual([]);
  expect(ids.size).toBe(known.size);
  const { rows: interrupted } = await pool.query("select node from llm_requests where outcome = 'interrupted'");
  expect(interrupted).toEqual([{ node: 'short' }]);
  expect((await pool.query('select from llm_open_calls')).rowCount).toBe(0);
  await runTollgate(a.dataDir, ['nodes', 'forget', 'short']);
  const verified = await runTollgate(a.dataDir, ['verify']);
  expect(verified.stdout).toMatch(/^calls of node a: \d+ accepted = /m);
  expect(verified.stdout).toMatch(/roll-ups: 0 differences/);
  expect(verified.code).toBe(0);
});
