/**
 * This release and the one before it on the same data directory and the same database, in turns and beside each other,
 * under load: what one has written the other reads, and the way back is open for one step.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, type Stage } from '../../bench/kill/stage.ts';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { callBegin, callEnd, priceByToken } from '../support/call-fixtures.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { type UnpackedRelease, unpackRelease } from '../support/upgrade/unpack-release.ts';
import { asRecord, startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

const LOAD_MS = 1_500;

let before: UnpackedRelease;
let postgres: TestPostgres;
let databaseUrl: string;
let stage: Stage;
let otherNode: TestGateway;

beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL');
  before = unpackRelease();
  postgres = await startPostgres(kind);
  databaseUrl = await postgres.createEmptyDatabase('upgrade');
  const env = { DATABASE_URL: databaseUrl };
  stage = await openStage({ seed: 5, clients: 8, env, databaseUrl: () => databaseUrl, release: before.path });
  otherNode = await startGateway({ env: otherEnv(), release: before.path });
});
afterAll(async () => {
  await otherNode?.stop();
  await stage?.close();
  await postgres?.remove();
  before?.remove();
});

/** Its provider is not there: a call that gets no answer has a row all the same. */
function otherEnv(): Record<string, string> {
  return { DATABASE_URL: databaseUrl, TOLLGATE_NODE: 'other', TOLLGATE_UPSTREAM_OPENAI: 'http://127.0.0.1:1' };
}

async function readVersion(gateway: TestGateway): Promise<unknown> {
  return asRecord(await gateway.api('/api/v1/status'))['version'];
}

/** With the database away, so that what the last calls were is in the spool only. */
async function killWithRecordsWaiting(): Promise<void> {
  await postgres.stop();
  await sleep(LOAD_MS);
  const { process: supervisor } = stage.gateway();
  const gone = new Promise((resolve) => supervisor.once('exit', resolve));
  supervisor.kill('SIGKILL');
  await gone;
  await postgres.start();
}

async function makeCall(gateway: TestGateway): Promise<string> {
  const answer = await fetch(`${gateway.base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-gateway-key': gateway.key, 'content-type': 'application/json' },
    body: '{"model":"gpt-4o-mini","messages":[]}',
  });
  await answer.text();
  const id = answer.headers.get('x-gateway-request-id');
  if (id === null) throw new Error('the answer has no id');
  return id;
}

test('up, down and up again, in order and by kill -9, with records waiting: none is lost, none comes twice', async () => {
  const sinceMs = Date.now();
  const load = stage.startLoad();
  await sleep(LOAD_MS);
  expect(await readVersion(stage.gateway())).toBe('0.1.0');
  await killWithRecordsWaiting();
  await stage.restart();
  expect(await readVersion(stage.gateway())).toBe('0.2.0');
  await sleep(LOAD_MS);
  // Back by one step.
  await killWithRecordsWaiting();
  await stage.restart(before.path);
  expect(await readVersion(stage.gateway())).toBe('0.1.0');
  await sleep(LOAD_MS);
  await stage.gateway().stop({ remove: false });
  await stage.restart();
  await sleep(LOAD_MS);
  const { faults, tally } = await stage.settle(load, sinceMs);
  expect(faults).toEqual([]);
  expect(tally.outcomes['ok']).toBeGreaterThan(100);
});

test('a node of the release before works beside one of this release, and is upgraded after it', async () => {
  const id = await makeCall(otherNode);
  expect(await otherNode.waitForLog(id)).toMatchObject({ node: 'other' });
  expect(await stage.gateway().waitForLog(id)).toMatchObject({ node: 'other' });
  const { dataDir, port, adminPort } = otherNode;
  await otherNode.stop({ remove: false });
  otherNode = await startGateway({ env: otherEnv(), dataDir, ports: { port, adminPort } });
  expect(await readVersion(otherNode)).toBe('0.2.0');
  const later = await makeCall(otherNode);
  expect(await stage.gateway().waitForLog(later)).toMatchObject({ node: 'other' });
});

test('a node of the release before deletes nothing by its own setting while one of this release is there', async () => {
  const pool = openTestPool(databaseUrl);
  const requestedAtMs = Date.now() - 20 * 86_400_000;
  const begin = callBegin(1, { requestedAtMs, node: 'old' });
  const session = await openIngestSession(pool);
  const batch = buildBatch([{ type: 'end', begin, end: callEnd(1) }], {
    process: 'p',
    priceCall: priceByToken,
    nowMs: requestedAtMs,
  });
  await session.ingest(batch.items);
  session.close();
  const older = await startGateway({
    env: { ...otherEnv(), TOLLGATE_NODE: 'older', TOLLGATE_RETENTION_ROWS: '5' },
    release: before.path,
  });
  // It says so when it has tried.
  await waitUntil('its try', () => (older.output().includes('retention goes on at its next time') ? true : undefined));
  await older.stop();
  const { rowCount } = await pool.query('select from llm_requests where id = $1', [begin.id]);
  await pool.end();
  expect(rowCount).toBe(1);
});
