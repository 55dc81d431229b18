/** Stands for a database that hangs: it takes connections and, after the greeting if asked to give one, says nothing. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

export interface MutePostgres {
  readonly connectionString: string;
  /** Messages of any kind that came after the greeting. */
  readonly questions: () => number;
  readonly close: () => Promise<void>;
}

/** Authentication ok, then ready for a query: https://www.postgresql.org/docs/18/protocol-message-formats.html */
const GREETING = Buffer.from('520000000800000000' + '5a0000000549', 'hex');

export async function startMutePostgres({ greets }: { readonly greets: boolean }): Promise<MutePostgres> {
  const sockets = new Set<Socket>();
  let questions = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      if (greets) socket.write(GREETING);
      socket.on('data', () => {
        questions += 1;
      });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    connectionString: `postgresql://nobody@127.0.0.1:${address.port}/nothing?sslmode=disable`,
    questions: () => questions,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
