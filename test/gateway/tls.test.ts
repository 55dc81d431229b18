/**
 * A whole gateway with TLS of its own: certificates by `tls init`, official SDKs that trust nothing but its authority, and
 * a hundred open streams while the certificate is renewed, the processes are replaced, and the gateway stops.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readHttp2Answer } from '../proxy/read-http2-answer.ts';
import type { WebsocketProvider } from '../proxy/websocket-provider.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { asRecord, COMPILE_CACHE, makeDataDir, startGateway, type TestGateway, waitUntil } from './start-gateway.ts';
import { startLiveProvider } from './start-live-provider.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const STREAMS = 100;

let dataDir: string;
let ca: string;
let gateway: TestGateway;
let provider: ScriptedProvider;
let live: WebsocketProvider;
const sessions: ClientHttp2Session[] = [];

function tollgate(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const own = { PATH: process.env['PATH'], TOLLGATE_DATA_DIR: dataDir, NODE_COMPILE_CACHE: COMPILE_CACHE };
  return run(process.execPath, [join(root, 'src/main.ts'), ...args], { env: { ...own, ...env } });
}

function pathOf(name: string): string {
  return join(dataDir, 'tls', name);
}

beforeAll(async () => {
  dataDir = makeDataDir();
  await tollgate(['tls', 'init']);
  ca = readFileSync(pathOf('authority.crt'), 'utf8');
  provider = await startScriptedProvider();
  live = await startLiveProvider();
  gateway = await startGateway({
    dataDir,
    ca,
    args: ['--demo'],
    env: {
      TOLLGATE_WORKERS: '2',
      TOLLGATE_TLS_CERT: pathOf('server.crt'),
      TOLLGATE_TLS_KEY: pathOf('server.key'),
      TOLLGATE_UPSTREAM_OPENAI: provider.origin,
      TOLLGATE_UPSTREAM_GEMINI_LIVE: live.origin,
    },
  });
});
afterAll(async () => {
  for (const session of sessions) session.destroy();
  await gateway?.stop();
  await provider?.close();
  await live?.close();
});

function openSession(): ClientHttp2Session {
  const session = connectHttp2(gateway.base, { ca });
  session.on('error', () => {});
  sessions.push(session);
  return session;
}

/** On a connection of its own. */
async function readHttp1(): Promise<string> {
  const outgoing = request(`${gateway.base}/v1/models`, {
    ca,
    agent: false,
    headers: { 'X-Gateway-Key': gateway.key },
  });
  outgoing.end();
  const [incoming] = await once(outgoing, 'response');
  let text = '';
  for await (const chunk of incoming) text += String(chunk);
  return incoming.complete ? text : `cut: ${text}`;
}

/** Half of them HTTP/1.1 on connections of their own, half HTTP/2, each held by the provider in its middle. */
async function openStreams(): Promise<{ letGo: () => void; texts: Promise<readonly string[]> }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = provider.requests.length;
  provider.setAnswer(() => [
    { write: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n' },
    { waitFor: promise },
    { write: '6\r\n world\r\n0\r\n\r\n' },
  ]);
  const over2 = Array.from({ length: STREAMS / 2 }, async (_, index) => {
    const session = index % 10 === 0 ? openSession() : (sessions.at(-1) ?? openSession());
    const answer = await readHttp2Answer(session, { path: '/v1/models', headers: ['x-gateway-key', gateway.key] });
    return answer.end === 'complete' ? answer.body.toString() : `${answer.end}: ${answer.body}`;
  });
  const texts = Promise.all([...Array.from({ length: STREAMS / 2 }, readHttp1), ...over2]);
  await provider.waitForRequest(first + STREAMS - 1, 60_000);
  return { letGo: resolve, texts };
}

const WHOLE: readonly string[] = Array.from({ length: STREAMS }, () => 'hello world');

async function readFingerprint(): Promise<string> {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', servername: 'localhost', ca });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

test('the start shows https, and curl and Node trust it by the variables that were printed', async () => {
  const shown = `curl https://127.0.0.1:${gateway.port}/v1/chat/completions`;
  // It is ready before it says how it is used.
  await waitUntil('the start shows it', () => (gateway.output().includes(shown) ? true : undefined));
  const status = asRecord(await gateway.api('/api/v1/status'));
  expect(status).toMatchObject({
    base_url: `https://127.0.0.1:${gateway.port}`,
    tls: { names: ['localhost', '127.0.0.1', '::1'], problem: null },
  });
  const url = `${gateway.base}/healthz`;
  const curl = await run('curl', ['-sS', url], { env: { CURL_CA_BUNDLE: pathOf('trusted.crt') } });
  expect(curl.stdout).toBe('{"status":"ok"}');
  await expect(run('curl', ['-sS', url], { env: {} })).rejects.toThrow(/unable to get local issuer certificate/);
  const trusting = { NODE_EXTRA_CA_CERTS: pathOf('authority.crt') };
  expect((await tollgate(['doctor'], trusting)).stdout).toMatch(
    /✓ proxy answers at https:.*\n✓ TLS: certificate for localhost, 127.0.0.1, ::1, until 20/,
  );
  expect((await tollgate(['doctor'])).stdout).toMatch(
    /! proxy answers at https:.* with a certificate that this program/,
  );
});

test('the official SDKs of Node work with nothing but the authority, over HTTP/1.1 and HTTP/2, and Live too', async () => {
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, 'tls-clients.ts')], {
    env: { NODE_EXTRA_CA_CERTS: pathOf('authority.crt'), BASE: gateway.base, KEY: gateway.key },
  });
  expect(JSON.parse(stdout)).toEqual({
    'http/1.1': ['openai', 'openai stream', 'anthropic', 'anthropic stream', 'google-genai', 'google-genai stream'],
    h2: ['openai', 'openai stream', 'anthropic', 'anthropic stream', 'google-genai', 'google-genai stream'],
    websocket: ['google-genai live'],
  });
});

test('a renewal under a hundred open streams cuts none, and every process shows the new certificate', async () => {
  const before = await readFingerprint();
  const { letGo, texts } = await openStreams();
  await tollgate(['tls', 'init', '--renew']);
  // Connections go to either process.
  await waitUntil('all processes show it', async () => {
    const shown = await Promise.all(Array.from({ length: 20 }, readFingerprint));
    return shown.includes(before) ? undefined : true;
  });
  letGo();
  expect(await texts).toEqual(WHOLE);
  expect(gateway.output().match(/a new certificate is in force/g)).toHaveLength(1);
});

test('SIGHUP replaces the processes under a hundred open streams, and cuts none', async () => {
  const { letGo, texts } = await openStreams();
  gateway.process.kill('SIGHUP');
  await waitUntil(
    'the restart is over',
    async () => {
      const { restart } = asRecord(await gateway.api('/api/v1/status').catch(() => ({ restart: {} })));
      return asRecord(restart)['finished'] === 1 ? true : undefined;
    },
    120_000,
  );
  await readFingerprint();
  letGo();
  expect(await texts).toEqual(WHOLE);
});

test('a stop lets a hundred open streams end', async () => {
  const { letGo, texts } = await openStreams();
  const exited = once(gateway.process, 'exit');
  gateway.process.kill('SIGTERM');
  await waitUntil('it takes no connections', () =>
    readFingerprint().then(
      () => undefined,
      () => true as const,
    ),
  );
  letGo();
  expect(await texts).toEqual(WHOLE);
  expect(await exited).toEqual([0, null]);
});
