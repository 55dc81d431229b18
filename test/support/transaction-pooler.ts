/**
 * Stands for a connection pooler in transaction mode, as PgBouncer, Odyssey and Supavisor have it: clients keep their
 * connections, and borrow one to the server for each transaction. It greets a client itself, with what the server has said
 * to it, and lets parameters of the first message fall.
 */
import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

export interface TransactionPooler {
  readonly connectionString: string;
  readonly close: () => Promise<void>;
}

interface Server {
  readonly socket: Socket;
  /** What it sends goes here; nobody: it is free. */
  client: Socket | null;
  rest: Buffer;
}

const SSL_REQUEST = 80_877_103;

/** `size`: connections to the server. Whoever needs one while all are lent waits. */
export async function startTransactionPooler(databaseUrl: string, size: number): Promise<TransactionPooler> {
  const url = new URL(databaseUrl);
  const socketPath = join(url.searchParams.get('host') ?? '', '.s.PGSQL.5432');
  const database = url.pathname.slice(1);
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  let greeting: Buffer = Buffer.alloc(0);
  let waiting: { readonly client: Socket; readonly bytes: Buffer }[] = [];

  async function openServer(): Promise<void> {
    const socket = createConnection(socketPath);
    sockets.add(socket);
    await once(socket, 'connect');
    socket.write(startup(['user', 'postgres', 'database', database]));
    const parts: Buffer[] = [];
    while (!isReady(Buffer.concat(parts))) {
      const [chunk]: unknown[] = await once(socket, 'data');
      if (Buffer.isBuffer(chunk)) parts.push(chunk);
    }
    greeting = Buffer.concat(parts);
    const server: Server = { socket, client: null, rest: Buffer.alloc(0) };
    socket.on('error', () => {}).on('data', (chunk: Buffer) => fromServer(server, chunk));
    servers.push(server);
  }

  function fromServer(server: Server, chunk: Buffer): void {
    server.client?.write(chunk);
    server.rest = Buffer.concat([server.rest, chunk]);
    // ReadyForQuery with "idle": the transaction is over, and the connection is another's.
    for (let length = messageLength(server.rest); length > 0; length = messageLength(server.rest)) {
      if (server.rest[0] === 0x5a && server.rest[5] === 0x49) server.client = null;
      server.rest = server.rest.subarray(length);
    }
    if (server.client === null) lendWaiting();
  }

  function lendWaiting(): void {
    const all = waiting;
    waiting = [];
    for (const { client, bytes } of all) fromClient(client, bytes);
  }

  function fromClient(client: Socket, bytes: Buffer): void {
    // Last in, first out, as PgBouncer does it.
    const server = servers.find((one) => one.client === client) ?? servers.find((one) => one.client === null);
    if (server === undefined) waiting = [...waiting, { client, bytes }];
    else {
      server.client = client;
      server.socket.write(bytes);
    }
  }

  const listener = createServer((client) => {
    sockets.add(client);
    let isGreeted = false;
    client.on('error', () => {});
    client.on('data', (chunk: Buffer) => {
      if (isGreeted) {
        if (chunk[0] === 0x58) client.end();
        else fromClient(client, chunk);
      } else if (chunk.readInt32BE(4) === SSL_REQUEST) client.write('N');
      else {
        isGreeted = true;
        client.write(greeting);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  for (let count = 0; count < size; count += 1) await openServer();
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    connectionString: `postgresql://postgres@127.0.0.1:${address.port}/${database}?sslmode=disable`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}

/** https://www.postgresql.org/docs/18/protocol-message-formats.html */
function startup(parameters: readonly string[]): Buffer {
  const body = Buffer.from(`${parameters.join('\0')}\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(body.length + 8, 0);
  head.writeInt32BE(196_608, 4);
  return Buffer.concat([head, body]);
}

/** Of the message that is at the beginning, if it is there whole; else 0. */
function messageLength(bytes: Buffer): number {
  if (bytes.length < 5) return 0;
  const length = bytes.readInt32BE(1) + 1;
  return bytes.length >= length ? length : 0;
}

function isReady(bytes: Buffer): boolean {
  let rest = bytes;
  for (let length = messageLength(rest); length > 0; length = messageLength(rest)) {
    if (rest[0] === 0x5a) return true;
    rest = rest.subarray(length);
  }
  return false;
}
