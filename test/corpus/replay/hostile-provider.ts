/** A provider that answers the first request of a case with the case's bytes, and every other one with its own target. */
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnswerStep } from '../../support/scripted-answer.ts';

export interface HostileProvider {
  readonly origin: string;
  readonly openConnections: () => number;
  /** What the next request whose target or body names a case is answered with. */
  readonly setSteps: (steps: readonly AnswerStep[]) => void;
  /** Resolves when all of the last steps have been taken. */
  readonly played: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function startHostileProvider(): Promise<HostileProvider> {
  const sockets = new Set<Socket>();
  let next: readonly AnswerStep[] | null = null;
  let playing: Promise<void> = Promise.resolve();

  async function play(socket: Socket, steps: readonly AnswerStep[]): Promise<void> {
    for (const step of steps) {
      if (socket.destroyed) return;
      if ('write' in step)
        socket.write(typeof step.write === 'string' ? Buffer.from(step.write, 'latin1') : step.write);
      else if ('waitMs' in step) await sleep(step.waitMs);
      else if ('reset' in step) socket.resetAndDestroy();
      else if ('end' in step) socket.end();
    }
  }

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {}); // `close` follows.
    let pending = '';
    socket.on('data', (bytes: Buffer) => {
      pending += bytes.toString('latin1');
      const headEnd = pending.indexOf('\r\n\r\n');
      if (headEnd === -1) return;
      const bodyBytes = Number(/\r\ncontent-length: (\d+)/i.exec(pending)?.[1] ?? 0);
      if (pending.length < headEnd + 4 + bodyBytes) return;
      const target = pending.split(' ')[1] ?? '';
      pending = '';
      const steps = next;
      if (/case/.test(target) && steps !== null) {
        next = null;
        playing = play(socket, steps);
        return;
      }
      const body = JSON.stringify({ token: target });
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    openConnections: () => sockets.size,
    setSteps: (steps) => {
      next = steps;
    },
    played: () => playing,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
