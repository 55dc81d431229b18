/**
 * What the Get started page needs, on a whole gateway: demo data by the command line, and what arrives as a stream. And
 * what a call is estimated at whose client does not wait for its end.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readEvents } from '../../src/cli/read-events.ts';
import { type FakeProvider, startFakeProvider } from '../../src/demo/fake-provider.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { asRecord, readAdminFile, startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

const root = join(import.meta.dirname, '..', '..');

/** A stream that stops after eight tokens of text and stays open. */
const BEGUN_MESSAGE = [
  {
    write: `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\nevent: message_start
data: {"type":"message_start","message":{"model":"claude-haiku-4-5-20251001","usage":{"input_tokens":2679,"output_tokens":3}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello, world! Hello, world!"}}

`,
  },
  { waitFor: new Promise(() => {}) },
];

let provider: FakeProvider;
let hanging: ScriptedProvider;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await startFakeProvider({
    host: '127.0.0.1',
    port: 0,
    fixturesDir: join(root, 'fixtures'),
    latencyMs: 0,
    eventDelayMs: 0,
  });
  hanging = await startScriptedProvider({ answer: () => BEGUN_MESSAGE });
  gateway = await startGateway({
    env: { TOLLGATE_UPSTREAM_OPENAI: `${provider.origin}/openai`, TOLLGATE_UPSTREAM_ANTHROPIC: hanging.origin },
  });
});
afterAll(async () => {
  await gateway?.stop();
  await provider?.close();
  await hanging?.close();
});

function runCommand(...args: readonly string[]): { status: number | null; stdout: string } {
  const command = [join(root, 'src/main.ts'), ...args, '--data-dir', gateway.dataDir];
  const { status, stdout } = spawnSync(process.execPath, command, { encoding: 'utf8' });
  return { status, stdout };
}

async function callModel(headers: Record<string, string>): Promise<string> {
  const answer = await fetch(`${gateway.base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer placeholder', ...headers },
    body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello.' }] }),
  });
  await answer.arrayBuffer();
  return answer.headers.get('x-gateway-request-id') ?? '';
}

interface Arrived {
  readonly id: string | null;
  readonly data: Record<string, unknown>;
}

/** Collects until it is closed. */
async function openArrivals(lastId?: string) {
  const { token } = readAdminFile(gateway.dataDir);
  const abort = new AbortController();
  const response = await fetch(`${gateway.adminBase}/api/v1/attempts/stream`, {
    headers: { authorization: `Bearer ${token}`, ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
    signal: abort.signal,
  });
  expect(response.status).toBe(200);
  const arrived: Arrived[] = [];
  const reading = (async () => {
    for await (const { id, data } of readEvents(response))
      if (data !== null) arrived.push({ id, data: asRecord(JSON.parse(data)) });
  })().catch(() => {}); // ends by the abort
  return {
    arrived,
    waitFor: (what: string, isIt: (data: Record<string, unknown>) => boolean) =>
      waitUntil(what, () => arrived.find(({ data }) => isIt(data))),
    close: async () => {
      abort.abort();
      await reading;
    },
  };
}

test('demo data is loaded, shown and removed by the command line', async () => {
  expect(await gateway.api('/api/v1/demo-data')).toEqual({ loaded: false, calls: 0 });
  expect(runCommand('demo', 'load').stdout).toMatch(/^Loaded 647 calls of the last two days/);
  expect(runCommand('demo', 'load', '--json').stdout).toBe('{"loaded":0}\n');
  expect(await gateway.api('/api/v1/demo-data')).toEqual({ loaded: true, calls: 647 });
  const runs = asRecord(await gateway.api('/api/v1/runs?limit=50'))['data'];
  expect(runs).toHaveLength(13);
  expect(runCommand('runs', 'demo-trip-loire-17').stdout).toContain('day 2: Blois – Amboise');
  const keys = asRecord(await gateway.api('/api/v1/keys'))['data'];
  expect(keys).toContainEqual(expect.objectContaining({ name: 'Demo data', revoked_at: expect.any(String) }));
});

test('a new reader is told of the attempts and calls before, then of each new one, but never of demo data', async () => {
  const first = await callModel({ 'x-gateway-key': gateway.key });
  await gateway.waitForLog(first);
  await callModel({});
  // The proxies report what they refused once a second.
  await waitUntil('the report', async () => {
    const { data } = asRecord(await gateway.api('/api/v1/attempts'));
    return Array.isArray(data) && data.length > 0 ? true : undefined;
  });
  const stream = await openArrivals();
  const told = await stream.waitFor('the attempt before', (data) => data['code'] === 'key_missing');
  expect(told.data).toMatchObject({
    status: 401,
    path: '/v1/chat/completions',
    verdict: expect.stringMatching(/^It came without a gateway key\. Add the header X-Gateway-Key;/),
  });
  await stream.waitFor('the call before', (data) => data['id'] === first);

  const second = await callModel({ 'x-gateway-key': gateway.key });
  const call = await stream.waitFor('the new call', (data) => data['id'] === second);
  expect(call.data).toMatchObject({ outcome: 'ok', endpoint: 'chat.completions' });
  await callModel({ 'x-gateway-key': 'tgk_wrong' });
  await stream.waitFor('the new attempt', (data) => data['code'] === 'key_malformed');
  // Loaded anew while the page is open: still none of it arrives.
  expect(runCommand('demo', 'remove').stdout).toBe('Removed 647 calls of demo data; your own are untouched.\n');
  expect(runCommand('demo', 'load').status).toBe(0);
  const third = await callModel({ 'x-gateway-key': gateway.key });
  await stream.waitFor('the call after the demo data', (data) => data['id'] === third);
  await stream.close();
  expect(stream.arrived.map(({ data }) => data['id'] ?? data['code'])).toEqual([
    'key_missing',
    first,
    second,
    'key_malformed',
    third,
  ]);
});

test('a reader who comes back with the last id gets what came meanwhile, once', async () => {
  const before = await openArrivals();
  await waitUntil('some arrivals', () => (before.arrived.length >= 5 ? true : undefined));
  await before.close();
  const lastId = before.arrived.at(-1)?.id ?? '';
  const missed = await callModel({ 'x-gateway-key': gateway.key });
  await callModel({ 'x-gateway-key': 'tgk_missed' });
  await gateway.waitForLog(missed);
  const after = await openArrivals(lastId);
  await after.waitFor('the missed call', (data) => data['id'] === missed);
  await after.waitFor('the missed attempt', (data) => data['code'] === 'key_malformed');
  await after.close();
  expect(after.arrived.map(({ data }) => data['id'] ?? data['code']).sort()).toEqual([missed, 'key_malformed'].sort());
});

test('an id of another stream is refused', async () => {
  const ask = gateway.api('/api/v1/attempts/stream', { headers: { 'last-event-id': '12_x' } });
  await expect(ask).rejects.toThrow('400');
});

test('`tollgate doctor` shows the same verdicts, and what the prices do not cover', () => {
  const { stdout } = runCommand('doctor');
  expect(stdout).toContain('What came in X-Gateway-Key is no gateway key: one begins with tgk_ and has 53 characters.');
  expect(stdout).toMatch(/^! prices: \d+ calls of the last 30 days have no price/m);
});

test('`tollgate verify` finds every roll-up right and every call, and says so to programs as well', () => {
  const { stdout } = runCommand('verify', '--json');
  const { accounts, ...result } = asRecord(JSON.parse(stdout));
  expect(result).toEqual({ type: 'result', differences: 0, is_balanced: true });
  const { stored, accepted } = asRecord(accounts);
  expect(stored).toBe(accepted);
  expect(accounts).toMatchObject({ spooled: 0, in_flight: 0, set_aside: 0, lost: 0, unaccounted: [] });
});

test('removing demo data leaves the calls of real keys', async () => {
  expect(runCommand('demo', 'remove', '--json').stdout).toBe('{"removed":647}\n');
  expect(runCommand('demo', 'remove').stdout).toBe('There is no demo data.\n');
  expect(await gateway.api('/api/v1/demo-data')).toEqual({ loaded: false, calls: 0 });
  const { data } = asRecord(await gateway.api('/api/v1/logs'));
  expect(data).toHaveLength(4);
  expect(asRecord(await gateway.api('/api/v1/runs'))['data']).toEqual([]);
});

test('a client that hangs up in the middle leaves a call with an estimate, which is in no sum', async () => {
  const abort = new AbortController();
  const answer = await fetch(`${gateway.base}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-key': gateway.key, 'x-api-key': 'placeholder' },
    body: JSON.stringify({ model: 'claude-haiku-4-5', stream: true, messages: [{ role: 'user', content: 'Hello.' }] }),
    signal: abort.signal,
  });
  await answer.body?.getReader().read();
  abort.abort();
  const id = answer.headers.get('x-gateway-request-id') ?? '';
  await gateway.waitForLog(id);
  const log = await waitUntil('the estimate', async () => {
    const record = asRecord(await gateway.api(`/api/v1/logs/${id}`));
    return record['estimated_tokens'] === null ? undefined : record;
  });
  expect(log).toMatchObject({
    outcome: 'client_closed',
    usage_source: 'partial',
    cost_status: 'partial',
    total_cost: null,
    // Eight tokens and a tenth more for the family; 2,679 at $1 a million and 9 at $5.
    estimated_tokens: { output: 9, method: 'o200k_base × 1.1' },
    estimated_cost: '0.002724',
  });
  // Of the output nothing is known: what the beginning of the stream says of it is no count.
  expect(log['known_cost']).toBe('0.002679');
  const costs = await gateway.api('/api/v1/costs?f=provider:eq:anthropic');
  expect(costs).toMatchObject({ totals: { total_cost: '0.002679', unpriced_calls: 1, output_tokens: 0 } });
  expect(runCommand('logs', '--filter', 'provider:eq:anthropic').stdout).toContain('~$0.002724 (estimate)');
});
