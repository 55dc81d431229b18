/** Calls and websockets whose record cannot be kept, and the counts that say what became of every call. */
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readLosses } from '../../src/spool/losses-file.ts';
import { openSpoolWriter } from '../../src/spool/spool-writer.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { quietLog } from '../support/quiet-log.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

let provider: ScriptedProvider;
const open: InProcessProxy[] = [];

beforeAll(async () => {
  provider = await startScriptedProvider();
});
afterAll(() => provider.close());
afterEach(async () => {
  for (const proxy of open.splice(0)) await proxy.close();
});

const ANSWER = JSON.stringify({ id: 'm', model: 'claude-x', usage: { input_tokens: 9, output_tokens: 4 } });

async function start(onFull: 'open' | 'closed'): Promise<InProcessProxy> {
  provider.setAnswer(() =>
    buildAnswer({ headers: [['Content-Type', 'application/json']], framing: 'length', body: ANSWER }),
  );
  const proxy = await startProxy(provider.origin, { onFull });
  open.push(proxy);
  return proxy;
}

/** From now on its spool has no room for any record. Where it is. */
async function fillSpool(proxy: InProcessProxy): Promise<string> {
  const dir = join(dirname(proxy.spoolDir), 'full', 'p2');
  await proxy.gateway.spool.close();
  const { onFull } = proxy.gateway.settings;
  const spool = openSpoolWriter({ dir, durability: 'process', onFull, maxBytes: 0, log: quietLog() });
  Object.assign(proxy.gateway, { spool });
  return dir;
}

function call(proxy: InProcessProxy) {
  const body = '{"model":"claude-x"}';
  const head = `POST /v1/messages HTTP/1.1\r\nHost: g\r\nX-Gateway-Key: ${proxy.key}\r\nContent-Length: ${body.length}`;
  return readRawAnswer('127.0.0.1', proxy.port, `${head}\r\n\r\n${body}`);
}

function handshake(proxy: InProcessProxy, path: string) {
  const head = `GET ${path} HTTP/1.1\r\nHost: g\r\nX-Gateway-Key: ${proxy.key}\r\nX-Gateway-Provider: openai`;
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  return readRawAnswer('127.0.0.1', proxy.port, `${head}\r\n${upgrade}\r\nSec-WebSocket-Version: 13\r\n\r\n`);
}

test('with on_full=closed calls and websockets are refused before anything goes to the provider, and counted', async () => {
  const proxy = await start('closed');
  const dir = await fillSpool(proxy);
  const seen = provider.requests.length;
  for (const answer of [await call(proxy), await handshake(proxy, '/v1/realtime?model=gpt-realtime')]) {
    expect(answer.status).toBe(503);
    expect(answer.head.toString()).toMatch(/\r\nX-Gateway-Error: log_unavailable\r\n/);
    expect(answer.head.toString()).toMatch(/\r\nRetry-After: 5\r\n/);
    expect(answer.head.toString()).not.toMatch(/x-should-retry/);
  }
  expect(provider.requests.length).toBe(seen);
  expect(proxy.gateway.counters).toMatchObject({ accepted: 2, inFlight: 0, refusedFull: 2, rejected: 2 });
  expect(proxy.gateway.spool.stats()).toMatchObject({ endsSpooled: 0, recordsLost: 2, beginsSkipped: 2 });
  await proxy.gateway.spool.close();
  expect((await readLosses(dir)).calls).toBe(2);
});

test('by default a spool without room changes nothing for the client, and the lost record is counted with its usage', async () => {
  const proxy = await start('open');
  const dir = await fillSpool(proxy);
  const answer = await call(proxy);
  expect([answer.status, answer.body.toString()]).toEqual([200, ANSWER]);
  expect(proxy.gateway.counters).toMatchObject({ accepted: 1, inFlight: 0, refusedFull: 0, rejected: 0 });
  await proxy.gateway.spool.close();
  expect(await readLosses(dir)).toMatchObject({
    calls: 1,
    entries: [{ accountId: 1, keyId: 7, provider: 'anthropic', model: 'claude-x', usage: { input: 9, output: 4 } }],
  });
});

test('accepted calls are numbered without gaps, whatever becomes of them, and are in flight until their ending is kept', async () => {
  const proxy = await start('open');
  const { counters, spool } = proxy.gateway;
  await call(proxy);
  // Refused after key and route were known: it has a record. Before that, it has none.
  expect((await handshake(proxy, '/v1/models')).status).toBe(426);
  const stranger = `GET /v1/models HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n`;
  expect((await readRawAnswer('127.0.0.1', proxy.port, stranger)).status).toBe(401);
  provider.setAnswer(() => [{ waitMs: 30_000 }]);
  const seen = provider.requests.length;
  const cut = call(proxy);
  await provider.waitForRequest(seen);
  expect(counters).toMatchObject({ accepted: 3, inFlight: 1 });
  for (const openCall of proxy.gateway.openCalls) openCall.shutDown();
  await cut.catch(() => {});
  const ends = (await proxy.entries()).filter((entry) => entry.type === 'end');
  expect(ends.map(({ begin, end }) => [begin.ordinal, end.outcome])).toEqual([
    [1, 'ok'],
    [2, 'rejected'],
    [3, 'shutdown_cut'],
  ]);
  expect(counters).toMatchObject({ accepted: 3, inFlight: 0 });
  expect(spool.stats()).toMatchObject({ endsSpooled: 3, recordsLost: 0 });
});
