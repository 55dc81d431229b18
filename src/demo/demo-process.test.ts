import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { BoundSocket, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';

const module = join(import.meta.dirname, 'demo-process.ts');
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function readFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address !== null && typeof address === 'object' ? address.port : 0;
}

function spawnChild(listenFd: number | 'ignore'): ChildProcess {
  const script = `const { runDemoProcess } = await import(${JSON.stringify(module)}); runDemoProcess();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', listenFd],
  });
  children.push(child);
  return child;
}

async function startChild(): Promise<{ readonly child: ChildProcess; readonly origin: string }> {
  const child = spawnChild('ignore');
  const demoPort = await readFreePort();
  child.send({ type: 'start', demoPort });
  expect(await once(child, 'message')).toEqual([{ type: 'ready' }, undefined]);
  return { child, origin: `http://127.0.0.1:${demoPort}` };
}

test('the demo listens on the port it is told, says ready, and ends with 0 when it is told to stop', async () => {
  const { child, origin } = await startChild();
  expect((await fetch(`${origin}/openai/v1/models`)).status).toBe(200);
  child.send({ type: 'stop', graceMs: 1000 });
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('the demo ends when its supervisor is gone', async () => {
  const { child } = await startChild();
  child.disconnect();
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('the demo listens on a socket that it is handed', async () => {
  const socket = new BoundSocket({ host: '127.0.0.1', port: 0 });
  const child = spawnChild(socket.fd());
  child.send({ type: 'start', role: 'demo', listenFd: 4 });
  await once(child, 'message');
  expect((await fetch(`http://127.0.0.1:${socket.address().port}/openai/v1/models`)).status).toBe(200);
  socket.close();
});
