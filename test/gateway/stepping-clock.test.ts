/** The clock of a gateway's machine jumps, or is wrong from the start, while its database has the right time. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asRecord, startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const SHIFT_CLOCK = join(import.meta.dirname, '..', '..', 'bench', 'soak', 'shift-clock.mjs');
const FIRST =
  'data: {"id":"1","object":"chat.completion.chunk","model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n';
const LAST =
  'data: {"id":"1","object":"chat.completion.chunk","model":"gpt-4o-mini","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

const dir = mkdtempSync(join(tmpdir(), 'tollgate-clock-'));
const clockFile = join(dir, 'clock');
const open: ServerResponse[] = [];
let provider: Server;
let gateway: TestGateway;

function shift(ms: number): void {
  writeFileSync(clockFile, String(ms));
}

async function start(dataDir?: string): Promise<TestGateway> {
  const address = provider.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return startGateway({
    ...(dataDir === undefined ? {} : { dataDir }),
    env: {
      NODE_OPTIONS: `--import ${SHIFT_CLOCK}`,
      SOAK_CLOCK_FILE: clockFile,
      TOLLGATE_UPSTREAM_OPENAI: `http://127.0.0.1:${port}`,
    },
  });
}

beforeAll(async () => {
  provider = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(FIRST);
      open.push(response);
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  shift(0);
  gateway = await start();
});

afterAll(async () => {
  await gateway.stop();
  provider.closeAllConnections();
  provider.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A stream that ends after `meanwhile`. Returns its record. */
async function callThrough(traceId: string, meanwhile: () => Promise<void>): Promise<Record<string, unknown>> {
  const response = await fetch(`${gateway.base}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer sk-test',
      'x-gateway-key': gateway.key,
      'x-gateway-trace-id': traceId,
    },
    body: '{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"user","content":"hi"}]}',
  });
  const reader = response.body?.getReader();
  await reader?.read();
  await meanwhile();
  for (const one of open.splice(0)) one.end(LAST);
  while ((await reader?.read())?.done === false);
  return gateway.waitForLog(String(response.headers.get('x-gateway-request-id')));
}

const status = async () => asRecord(await gateway.api('/api/v1/status'));
const clockOf = async () => asRecord((await status())['clock']);
const nothing = async () => {};
/** The preloaded file looks ten times a second, the gateway once. */
async function jump(ms: number): Promise<void> {
  shift(ms);
  await waitUntil('the jump', async () => (Math.abs(Number((await clockOf())['step_ms'])) > 1_000 ? true : undefined));
}

test('a run during which the clock jumps by an hour is as long as it was, and what was open says that it jumped', async () => {
  const startedMs = performance.now();
  const before = await callThrough('jump', nothing);
  const during = await callThrough('jump', () => jump(HOUR_MS));
  const after = await callThrough('jump', nothing);
  const tookMs = performance.now() - startedMs;
  expect(
    [before['flags'], during['flags'], after['flags']].map((flags) => [flags].flat().includes('clock_step')),
  ).toEqual([false, true, false]);
  const { calls, duration_ms: durationMs } = asRecord(await gateway.api('/api/v1/run?trace_id=jump'));
  expect(calls).toBe(3);
  // The run lies within what was measured around it, whatever the wall clock says.
  expect(Number(durationMs)).toBeLessThanOrEqual(tookMs);
  expect(await clockOf()).toMatchObject({ step_ms: expect.any(Number), stepped_at: expect.any(String) });
  shift(0);
});

test('a gateway whose clock is 100 days behind dates its calls by the database, also the first ones after a restart', async () => {
  shift(-100 * DAY_MS);
  const { dataDir } = gateway;
  await gateway.stop({ remove: false });
  gateway = await start(dataDir);
  const isNow = (record: Record<string, unknown>) =>
    Math.abs(Date.now() - Date.parse(String(record['requested_at']))) < HOUR_MS;
  const first = await callThrough('behind', nothing);
  expect([isNow(first), first['flags']]).toEqual([true, expect.arrayContaining(['clock_skew'])]);
  expect(await clockOf()).toMatchObject({ is_trusted: false });
  await gateway.stop({ remove: false });
  gateway = await start(dataDir);
  const again = await callThrough('behind', nothing);
  expect([isNow(again), again['flags']]).toEqual([true, expect.arrayContaining(['clock_skew'])]);
});
