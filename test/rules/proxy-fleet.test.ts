/** Proxy processes that are replaced: stand-ins for them, on a real socket, with the real supervision. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ListeningSockets, openListeningSockets } from '../../src/supervisor/listening-sockets.ts';
import { createProxyFleet, type ProxyFleet } from '../../src/supervisor/proxy-fleet.ts';
import { readConfig } from '../../src/supervisor/settings/read-config.ts';
import { createSupervisedChild, type SupervisedChild } from '../../src/supervisor/supervised-child.ts';
import { createLog } from '../../src/vocabulary/log.ts';

const ENTRY = join(import.meta.dirname, '..', 'gateway', 'stand-in-children.ts');
const log = createLog({ level: 'error', role: 'test' });

let dir = '';
let sockets: ListeningSockets;
let fleet: ProxyFleet;
let ended: string[] = [];
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tg-'));
  sockets = await openListeningSockets('127.0.0.1', 0, 1);
  ended = [];
  fleet = createFleet();
  await fleet.start();
});
afterEach(async () => {
  for (const socket of sockets.sockets) socket.close();
  await fleet.stop(0);
  rmSync(dir, { recursive: true, force: true });
});

function createFleet(): ProxyFleet {
  const config = readConfig({}, {});
  return createProxyFleet({
    listenFds: sockets.sockets.map((socket) => socket.fd()),
    createStart: (spoolName) => ({
      type: 'start',
      role: 'proxy',
      config,
      listenFd: 4,
      spoolDir: dir,
      spoolName,
      keysFile: join(dir, 'keys.json'),
    }),
    createChild: (listenFd, maxEarlyExits, createStart, onMessage, onChange) => {
      const child: SupervisedChild = createSupervisedChild({
        role: 'proxy',
        entry: ENTRY,
        env: { ...process.env, STAND_IN_FAILS: dir },
        listenFd,
        lifelineFd: null,
        readinessTimeoutMs: 20_000,
        log,
        createStart,
        ...(maxEarlyExits === undefined ? {} : { maxEarlyExits }),
        onMessage: (message) => onMessage(child, message),
        onChange: () => onChange(child),
      });
      return child;
    },
    onMessage: () => {},
    onChange: () => {},
    onSpoolEnd: (name) => void ended.push(name),
    drainMs: 20_000,
    log,
  });
}

async function ask(path = '/'): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${sockets.port}${path}`, { headers: { connection: 'close' } });
  return answer.text();
}

async function askPid(): Promise<number> {
  return JSON.parse(await ask()).pid;
}

const states = () => fleet.children().map((child) => child.status().state);

test('a process that is replaced ends its open call, and its spool is live until then', async () => {
  const former = await askPid();
  const spools = fleet.liveSpools();
  const slow = ask('/slow');
  await fleet.replace();
  expect(await askPid()).not.toBe(former);
  expect(fleet.liveSpools().length).toBe(states().length);
  expect(await slow).toBe('slow');
  await expect.poll(states).toEqual(['ready']);
  expect(fleet.liveSpools()).toHaveLength(1);
  expect(ended).toEqual(spools);
});

test('one that cannot be replaced goes on', async () => {
  const former = await askPid();
  writeFileSync(join(dir, 'fail-proxy'), '');
  await expect(fleet.replace()).rejects.toThrow('the proxy process cannot start (exit 7)');
  expect(await askPid()).toBe(former);
  await expect.poll(states).toEqual(['ready']);
});

test('a new process that dies while the old one still has calls is started again', async () => {
  const slow = ask('/slow');
  await fleet.replace();
  const pid = await askPid();
  process.kill(pid, 'SIGKILL');
  expect(await askPid()).not.toBe(pid);
  expect(await slow).toBe('slow');
});

test('a process that ends again and again is in a crash loop', async () => {
  writeFileSync(join(dir, 'fail-proxy'), '');
  process.kill(await askPid(), 'SIGKILL');
  await expect.poll(states, { timeout: 20_000 }).toEqual(['crash_loop']);
  expect(fleet.children()[0]?.status()).toMatchObject({ pid: null, recentExits: 5, lastExit: 'exit 7' });
});
