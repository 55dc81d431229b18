/**
 * A network between a gateway and its PostgreSQL that breaks when it is told to: it hangs, closes, resets, or is slow. It
 * reads along as far as it must: who connects, which process of the server answers, and the text of what is asked.
 */
import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

export interface SeenQuestion {
  /** Of the process of the server that has it. */
  readonly backendPid: number;
  /** Breaks this connection, as a dead process (`close`) or a router that has forgotten it (`reset`). */
  readonly breakOff: (how: 'close' | 'reset') => void;
}

export interface BreakableLine {
  readonly connectionString: string;
  /** Resolves at the first message of this client that has this text in it; `isHeld`: neither it nor any answer goes on. */
  readonly see: (applicationName: RegExp, text: RegExp, isHeld: boolean) => Promise<SeenQuestion>;
  /** From now on nothing goes on, on any connection, in either direction; then all are broken. */
  readonly hang: () => void;
  readonly breakAll: (how: 'close' | 'reset') => void;
  readonly openConnections: () => number;
  readonly close: () => Promise<void>;
}

interface Watch {
  readonly applicationName: RegExp;
  readonly text: RegExp;
  readonly isHeld: boolean;
  readonly found: (question: SeenQuestion) => void;
}

/** `databaseUrl` is of `postgres.ts`: its server answers on a socket. `bytesPerSecond`: towards the server. */
export async function startBreakableLine(
  databaseUrl: string,
  bytesPerSecond = Number.POSITIVE_INFINITY,
): Promise<BreakableLine> {
  const url = new URL(databaseUrl);
  const socketPath = join(url.searchParams.get('host') ?? '', '.s.PGSQL.5432');
  const pairs = new Set<{ readonly client: Socket; readonly server: Socket }>();
  let watches: readonly Watch[] = [];
  let isHanging = false;

  const listener = createServer((client) => {
    const server = createConnection(socketPath);
    const pair = { client, server };
    pairs.add(pair);
    let applicationName = '';
    let backendPid = 0;
    let isHeld = false;
    const breakOff = (how: 'close' | 'reset'): void => {
      if (how === 'close') client.destroy();
      else client.resetAndDestroy();
      server.destroy();
    };
    const forget = (): void => void pairs.delete(pair);
    client.on('error', forget).on('close', () => {
      forget();
      server.destroy();
    });
    server.on('error', forget).on('close', () => {
      forget();
      if (!isHanging) client.destroy();
    });
    server.on('data', (chunk: Buffer) => {
      if (backendPid === 0) backendPid = readBackendPid(chunk);
      if (!isHeld && !isHanging) client.write(chunk);
    });
    client.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      if (applicationName === '') applicationName = /application_name\0([^\0]*)\0/.exec(text)?.[1] ?? '';
      if (isHanging || isHeld) return;
      const watch = watches.find((one) => one.applicationName.test(applicationName) && one.text.test(text));
      if (watch !== undefined) {
        watches = watches.filter((other) => other !== watch);
        isHeld = watch.isHeld;
        watch.found({ backendPid, breakOff });
        if (isHeld) return;
      }
      server.write(chunk);
      if (bytesPerSecond === Number.POSITIVE_INFINITY) return;
      client.pause();
      setTimeout(() => client.resume(), (chunk.length / bytesPerSecond) * 1_000);
    });
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('no port');

  const breakAll = (how: 'close' | 'reset'): void => {
    isHanging = false;
    for (const { client, server } of [...pairs]) {
      if (how === 'close') client.destroy();
      else client.resetAndDestroy();
      server.destroy();
    }
  };
  return {
    connectionString: `postgresql://postgres@127.0.0.1:${address.port}${url.pathname}?sslmode=disable`,
    see: (applicationName, text, isHeld) =>
      new Promise((found) => {
        watches = [...watches, { applicationName, text, isHeld, found }];
      }),
    hang: () => {
      isHanging = true;
    },
    breakAll,
    openConnections: () => pairs.size,
    close: async () => {
      breakAll('close');
      listener.close();
      await once(listener, 'close');
    },
  };
}

/** BackendKeyData: https://www.postgresql.org/docs/18/protocol-message-formats.html */
function readBackendPid(chunk: Buffer): number {
  const at = chunk.indexOf(Buffer.from('4b0000000c', 'hex'));
  return at === -1 || chunk.length < at + 9 ? 0 : chunk.readInt32BE(at + 5);
}
