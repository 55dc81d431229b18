import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startScriptedProvider } from '../support/fake-provider.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';

const OPEN_FILES = 64;
const CLIENTS = 200;

function startChild(origin: string): ChildProcess {
  const script = join(import.meta.dirname, 'few-files-proxy.ts');
  return spawn('sh', ['-c', `ulimit -n ${OPEN_FILES}; exec "$0" "$@"`, process.execPath, script, origin], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

test('a process that runs out of open files goes on: it refuses what it cannot take, and serves again afterwards', async () => {
  const provider = await startScriptedProvider({ answer: () => buildAnswer({ body: '{}' }) });
  const child = startChild(provider.origin);
  const sockets: Socket[] = [];
  try {
    const [line]: unknown[] = child.stdout === null ? [] : await once(child.stdout, 'data');
    const { port, key } = Object(JSON.parse(String(line)));
    for (let index = 0; index < CLIENTS; index += 1) {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.on('error', () => {});
      sockets.push(socket);
    }
    const isOpen = await Promise.all(sockets.map((socket) => staysOpen(socket)));
    const kept = isOpen.filter(Boolean).length;
    expect(kept).toBeGreaterThan(10);
    expect(kept).toBeLessThan(OPEN_FILES);
    for (const socket of sockets) socket.destroy();

    const request = `GET /v1/models HTTP/1.1\r\nHost: g\r\nX-Gateway-Key: ${key}\r\nConnection: close\r\n\r\n`;
    // Until the process has seen the connections close, a further one is one too many.
    await expect
      .poll(
        () =>
          readRawAnswer('127.0.0.1', port, request).then(
            ({ status }) => status,
            () => null,
          ),
        {
          timeout: 30_000,
        },
      )
      .toBe(200);
    expect(child.exitCode).toBe(null);
  } finally {
    for (const socket of sockets) socket.destroy();
    child.kill();
    await provider.close();
  }
});

/** A connection that was taken answers a request for its health; one that was not is closed. */
function staysOpen(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once('data', () => resolve(true));
    socket.once('close', () => resolve(false));
    socket.write('GET /healthz HTTP/1.1\r\nHost: g\r\n\r\n');
  });
}
