/** The proxy process by itself, as its supervisor starts it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createGatewayKey, digestKey } from '../../src/keys/gateway-key.ts';
import { createKeySnapshot, writeKeySnapshotFile } from '../../src/keys/key-snapshot.ts';
import { openListeningSockets } from '../../src/supervisor/listening-sockets.ts';
import { readConfig } from '../../src/supervisor/settings/read-config.ts';
import type { ProxyStart } from '../../src/vocabulary/channel.ts';
import { startScriptedProvider } from '../support/fake-provider.ts';
import { readSpool } from '../support/read-spool.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { COMPILE_CACHE } from './start-gateway.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
/** Of a start that ends at once; a stop that was not heard is waited for much longer. */
const GRACE_MS = 600_000;

test('a process that is told to stop before it listens ends at once', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'proxy-'));
  const child = fork(MAIN, ['internal-proxy'], { stdio: 'ignore' });
  const start: ProxyStart = {
    type: 'start',
    role: 'proxy',
    listenFd: 99,
    spoolDir: dir,
    spoolName: 'p1',
    keysFile: join(dir, 'keys.json'),
    config: readConfig({ dataDir: dir }, {}),
  };
  child.send(start);
  child.send({ type: 'stop', graceMs: GRACE_MS, isReplaced: false });
  try {
    expect(await once(child, 'exit')).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
    rmSync(dir, { recursive: true });
  }
});

/** As `fork` passes them: three streams, the channel, and this. */
const LISTEN_FD = 4;
const CLIENTS = 200;
const STOP_GRACE_MS = 600;

/** A connection that has sent its request but for the last two bytes. */
async function openUnfinished(port: number, key: string, number: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.resume();
  await once(socket, 'connect');
  socket.write(`GET /v1/models?n=${number} HTTP/1.1\r\nHost: g\r\nX-Gateway-Key: ${key}\r\n`);
  return socket;
}

test('a process that ends takes no call whose record it could not keep', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'proxy-'));
  const keysFile = join(dir, 'keys.json');
  const key = createGatewayKey();
  const entry = { digest: digestKey(key), keyId: 1, accountId: 1, revoked: false, expiresAtMs: null };
  await writeKeySnapshotFile(keysFile, createKeySnapshot(1, [{ ...entry, usage: null, bodies: null }]));
  const provider = await startScriptedProvider({ answer: () => buildAnswer({ body: '{}' }) });
  const { port, sockets: bound } = await openListeningSockets('127.0.0.1', 0, 1);
  const child = fork(MAIN, ['internal-proxy'], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', bound[0]?.fd() ?? null],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
  const clients: Socket[] = [];
  try {
    const start: ProxyStart = {
      type: 'start',
      role: 'proxy',
      listenFd: LISTEN_FD,
      spoolDir: dir,
      spoolName: 'p1',
      keysFile,
      config: readConfig({ dataDir: dir }, { TOLLGATE_UPSTREAM_OPENAI: provider.origin }),
    };
    const ended = once(child, 'exit');
    const isReady = new Promise<void>((resolve) => {
      child.on('message', (message) => Object(message).type === 'ready' && resolve());
    });
    child.send(start);
    await isReady;
    for (let number = 0; number < CLIENTS; number += 1) clients.push(await openUnfinished(port, key, number));
    child.send({ type: 'stop', graceMs: STOP_GRACE_MS, isReplaced: false });
    await sleep(STOP_GRACE_MS - 200);
    // Until long after the end, and often enough that some come at any moment of it.
    for (const client of clients) {
      client.write('\r\n');
      await sleep(2);
    }
    expect(await ended).toEqual([0, null]);
    const { entries } = await readSpool(join(dir, 'p1'), true);
    const kept = new Set(entries.flatMap((record) => (record.type === 'end' ? [record.begin.path] : [])));
    const reached = provider.requests.map(({ target }) => target);
    expect(reached.length).toBeGreaterThan(0);
    expect(reached.filter((target) => !kept.has(target))).toEqual([]);
  } finally {
    child.kill('SIGKILL');
    for (const client of clients) client.destroy();
    for (const socket of bound) socket.close();
    await provider.close();
    rmSync(dir, { recursive: true });
  }
});

test('a process with the keys of before is not ready until it hears of those of now, and serves meanwhile', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'proxy-'));
  const keysFile = join(dir, 'keys.json');
  const [before, now] = [createGatewayKey(), createGatewayKey()];
  const entry = { keyId: 1, accountId: 1, revoked: false, expiresAtMs: null, usage: null, bodies: null } as const;
  await writeKeySnapshotFile(keysFile, createKeySnapshot(1, [{ ...entry, digest: digestKey(before) }]));
  const provider = await startScriptedProvider({ answer: () => buildAnswer({ body: '{}' }) });
  const { port, sockets: bound } = await openListeningSockets('127.0.0.1', 0, 1);
  const child = fork(MAIN, ['internal-proxy'], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', bound[0]?.fd() ?? null],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
  const hear = (type: string) =>
    new Promise<void>((resolve) => {
      child.on('message', (message) => Object(message).type === type && resolve());
    });
  const ask = async (path: string, key: string) =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-gateway-key': key } })).status;
  try {
    const start: ProxyStart = {
      type: 'start',
      role: 'proxy',
      listenFd: LISTEN_FD,
      spoolDir: dir,
      spoolName: 'p1',
      keysFile,
      areKeysOld: true,
      config: readConfig({ dataDir: dir }, { TOLLGATE_UPSTREAM_OPENAI: provider.origin }),
    };
    const isReady = hear('ready');
    child.send(start);
    await isReady;
    expect(await ask('/readyz', '')).toBe(503);
    expect(await ask('/healthz', '')).toBe(200);
    expect(await ask('/v1/models', before)).toBe(200);
    expect(await ask('/v1/models', now)).toBe(401);
    const isApplied = hear('keys-applied');
    const upserts = [{ ...entry, digest: digestKey(now), keyId: 2 }];
    child.send({ type: 'keys-changed', change: { baseVersion: 1, version: 2, upserts } });
    await isApplied;
    expect(await ask('/readyz', '')).toBe(200);
    expect(await ask('/v1/models', now)).toBe(200);
  } finally {
    child.kill('SIGKILL');
    for (const socket of bound) socket.close();
    await provider.close();
    rmSync(dir, { recursive: true });
  }
});
