/**
 * Two small balancers over the same nodes: one that knows connections and nothing of what is in them, and one that reads
 * HTTP/1.1 and chooses a node for each request, on connections that it keeps. Both try nothing twice. A call that cannot
 * be passed on is a broken connection at its client.
 */
import { Agent, createServer as createHttpServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { WatchedNode } from './watch-node.ts';

export interface Balancer {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** The nodes that are listed in turn; null when none is. */
type Choose = () => WatchedNode | null;

export function takeTurns(nodes: () => readonly WatchedNode[]): Choose {
  let turn = 0;
  return () => {
    const listed = nodes().filter((node) => node.isListed());
    turn += 1;
    return listed[turn % listed.length] ?? null;
  };
}

/** `onCall` is told which node gets a call, as far as it can be read: each one of HTTP/1.1, also on a kept connection. */
export async function balanceConnections(
  choose: Choose,
  onCall: (callId: string, node: WatchedNode) => void,
): Promise<Balancer> {
  return listen(
    createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
      const node = choose();
      if (node !== null) client.on('data', (bytes: Buffer) => readCallIds(bytes, (callId) => onCall(callId, node)));
      joinNode(client, node);
    }),
  );
}

/** A client writes the head of a request in one piece. */
function readCallIds(bytes: Buffer, onCall: (callId: string) => void): void {
  for (const [, callId = ''] of bytes.toString('latin1').matchAll(/^x-call-id: (.+)\r$/gm)) onCall(callId);
}

export async function balanceRequests(choose: Choose): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true });
  const server = createHttpServer({ noDelay: true, keepAliveTimeout: 120_000 }, (incoming, outgoing) => {
    const node = choose();
    if (node === null) incoming.socket.destroy();
    else passOn(incoming, outgoing, node.port, agent);
  });
  server.on('upgrade', (incoming: IncomingMessage, _stream, rest: Buffer) => {
    joinNode(incoming.socket, choose(), Buffer.concat([formatHead(incoming), rest]));
  });
  return listen(server);
}

/** From here on bytes are bytes. */
function joinNode(client: Socket, node: WatchedNode | null, first: Buffer = Buffer.alloc(0)): void {
  client.on('error', () => {}); // `close` follows.
  if (node === null) {
    client.destroy();
    return;
  }
  const upstream = connect({ port: node.port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  upstream.on('error', () => {});
  upstream.write(first);
  client.pipe(upstream).pipe(client);
  client.once('close', () => upstream.destroy());
  upstream.once('close', (hadError) => (hadError ? client.resetAndDestroy() : client.destroySoon()));
}

function passOn(incoming: IncomingMessage, outgoing: ServerResponse, port: number, agent: Agent): void {
  const { method = 'GET', url = '/', rawHeaders } = incoming;
  const upstream = request({ host: '127.0.0.1', port, method, path: url, headers: rawHeaders, agent }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 0, withoutConnection(answer.rawHeaders));
    outgoing.flushHeaders();
    answer.pipe(outgoing);
    answer.once('error', () => outgoing.destroy());
  });
  upstream.once('error', () => outgoing.destroy());
  outgoing.once('close', () => upstream.destroy());
  incoming.pipe(upstream);
}

/** The node says how its own connection goes on; the client's is another. */
function withoutConnection(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_text, index) => !isHopByHop(rawHeaders[index - (index % 2)] ?? ''));
}

function isHopByHop(name: string): boolean {
  return /^(connection|keep-alive|transfer-encoding)$/i.test(name);
}

function formatHead({ method, url, rawHeaders }: IncomingMessage): Buffer {
  const lines = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : []));
  return Buffer.from([`${method} ${url} HTTP/1.1`, ...lines, '\r\n'].join('\r\n'), 'latin1');
}

async function listen(server: Server): Promise<Balancer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 1_024 }, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
