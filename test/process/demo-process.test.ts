/** The demo as the supervisor forks it: a process of its own with a bound socket as file descriptor 4. Not its answers. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { BoundSocket } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';

const entry = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
const children: ChildProcess[] = [];
const sockets: BoundSocket[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const socket of sockets.splice(0)) socket.close();
});

async function startDemo(): Promise<{ readonly child: ChildProcess; readonly origin: string }> {
  const socket = new BoundSocket({ host: '127.0.0.1', port: 0 });
  sockets.push(socket);
  const origin = `http://127.0.0.1:${socket.address().port}`;
  const child = fork(entry, ['internal-demo'], {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', socket.fd()],
  });
  children.push(child);
  child.send({ type: 'start', role: 'demo', listenFd: 4, origin });
  expect(await once(child, 'message')).toEqual([{ type: 'ready' }, undefined]);
  return { child, origin };
}

test('the demo answers on the socket that it is handed, and ends with 0 when it is told to stop', async () => {
  const { child, origin } = await startDemo();
  expect((await fetch(`${origin}/openai/v1/models`)).status).toBe(200);
  child.send({ type: 'stop', graceMs: 1000 });
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('the demo ends when its supervisor is gone', async () => {
  const { child } = await startDemo();
  child.disconnect();
  expect(await once(child, 'exit')).toEqual([0, null]);
});
