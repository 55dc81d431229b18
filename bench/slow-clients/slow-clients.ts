/** Clients that take their time: one byte a second of the head, of the body, or of the answer; or that never read. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENDLESS_PATH } from './provider.ts';

export const SLOW_KINDS = ['head', 'body', 'reader', 'never'] as const;
export type SlowKind = (typeof SLOW_KINDS)[number];

const STEP_MS = 1_000;
const DECLARED_BYTES = 100_000;
/** Not all at the same moment. */
const OPENED_A_TURN = 25;

export interface SlowClients {
  readonly sockets: readonly Socket[];
  /** What those that were ended by the gateway had been told: status, or `nothing`. */
  readonly endings: ReadonlyMap<string, number>;
  readonly close: () => Promise<void>;
}

interface Where {
  readonly port: number;
  readonly key: string;
}

function headOf(path: string, key: string, length: number): string {
  return `POST ${path} HTTP/1.1\r\nHost: g\r\nX-Gateway-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
}

const ASK = '{"model":"gpt-x","stream":true,"stream_options":{"include_usage":true}}';

/** Reads one byte from the system each second, and leaves the rest there. */
function openReader({ port }: Where): Socket {
  const socket: Socket = connect({
    port,
    host: '127.0.0.1',
    onread: { buffer: Buffer.alloc(1), callback: () => false },
  });
  const step = setInterval(() => socket.resume(), STEP_MS);
  socket.once('close', () => clearInterval(step));
  return socket;
}

function openOne(kind: SlowKind, where: Where, onEnded: (told: string) => void): Socket {
  const socket = kind === 'reader' ? openReader(where) : connect({ port: where.port, host: '127.0.0.1' });
  let told = '';
  let isClosed = false;
  socket.on('error', () => {});
  socket.once('close', () => {
    isClosed = true;
    onEnded(/^HTTP\/1\.1 (\d+)/.exec(told)?.[1] ?? 'nothing');
  });
  const drip = (text: string): void => {
    let at = 0;
    const step = setInterval(() => {
      if (isClosed) clearInterval(step);
      else socket.write(text[at] ?? 'x');
      at += 1;
    }, STEP_MS);
    socket.once('close', () => clearInterval(step));
    socket.on('data', (chunk: Buffer) => {
      told += chunk.toString('latin1');
    });
  };
  switch (kind) {
    case 'head':
      drip(headOf('/v1/chat/completions', where.key, 0));
      break;
    case 'body':
      socket.write(headOf('/v1/chat/completions', where.key, DECLARED_BYTES));
      drip('{"model":"gpt-x"}');
      break;
    case 'reader':
      socket.write(headOf(ENDLESS_PATH, where.key, ASK.length) + ASK);
      break;
    case 'never':
      socket.write(headOf(ENDLESS_PATH, where.key, ASK.length) + ASK);
      socket.pause();
      break;
  }
  return socket;
}

export async function openSlowClients(kind: SlowKind, count: number, where: Where): Promise<SlowClients> {
  const endings = new Map<string, number>();
  const sockets: Socket[] = [];
  let isClosing = false;
  for (let index = 0; index < count; index += 1) {
    const socket = openOne(kind, where, (told) => {
      if (!isClosing) endings.set(told, (endings.get(told) ?? 0) + 1);
    });
    sockets.push(socket);
    if (index % OPENED_A_TURN === OPENED_A_TURN - 1) await sleep(20);
  }
  return {
    sockets,
    endings,
    close: async () => {
      isClosing = true;
      await Promise.all(
        sockets.map((socket) => {
          const closed = new Promise((resolve) => (socket.closed ? resolve(null) : socket.once('close', resolve)));
          socket.destroy();
          return closed;
        }),
      );
    },
  };
}
