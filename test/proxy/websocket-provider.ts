/**
 * Providers of websockets for tests: one that speaks the protocol (by `ws`, with or without compression) and says what
 * it is told, and one that knows nothing of it and shows the bytes. Neither is any provider's API.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createRawServer, type Server, type Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export interface WebsocketProvider {
  readonly origin: string;
  /** The handshakes, in order. */
  readonly requests: readonly IncomingMessage[];
  readonly sessions: readonly WebSocket[];
  readonly close: () => Promise<void>;
}

export async function startWebsocketProvider(
  onSession: (session: WebSocket, request: IncomingMessage) => void,
  options: { readonly deflate?: boolean } = {},
): Promise<WebsocketProvider> {
  const requests: IncomingMessage[] = [];
  const sessions: WebSocket[] = [];
  const server = createServer();
  const websockets = new WebSocketServer({
    server,
    perMessageDeflate: options.deflate === true ? { threshold: 0 } : false,
    handleProtocols: (protocols) => [...protocols][0] ?? false,
  });
  websockets.on('connection', (session, request) => {
    requests.push(request);
    sessions.push(session);
    session.on('error', () => {});
    onSession(session, request);
  });
  const port = await listen(server);
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    sessions,
    close: async () => {
      for (const session of sessions) session.terminate();
      websockets.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface RawProvider {
  readonly origin: string;
  /** Everything that came, one connection after the other. */
  readonly received: () => Buffer;
  readonly receivedBytes: () => number;
  readonly sockets: readonly Socket[];
  readonly close: () => Promise<void>;
}

/** `onHead` is called once a head is whole; what it writes is the answer. */
export async function startRawProvider(onHead: (socket: Socket, head: string) => void): Promise<RawProvider> {
  const sockets: Socket[] = [];
  const parts: Buffer[] = [];
  let receivedBytes = 0;
  const server = createRawServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.push(socket);
    let head = '';
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      parts.push(chunk);
      receivedBytes += chunk.length;
      if (head.includes('\r\n\r\n')) return;
      head += chunk.toString('latin1');
      if (head.includes('\r\n\r\n')) onHead(socket, head.slice(0, head.indexOf('\r\n\r\n') + 4));
    });
  });
  const port = await listen(server);
  return {
    origin: `http://127.0.0.1:${port}`,
    received: () => Buffer.concat(parts),
    receivedBytes: () => receivedBytes,
    sockets,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const SWITCH =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nX-Session: 7\r\n\r\n';

/** One frame (RFC 6455 5.2); `masked` as a client has to send it. */
export function writeFrame(opcode: number, payload: Buffer, options: { fin?: boolean; masked?: boolean } = {}): Buffer {
  const { fin = true, masked = false } = options;
  const mask = Buffer.from(masked ? [0x11, 0x22, 0x33, 0x44] : []);
  const size = payload.length < 126 ? [payload.length] : [126, payload.length >> 8, payload.length & 0xff];
  const head = Buffer.from([(fin ? 0x80 : 0) | opcode, ...size]);
  if (masked) head[1] = (head[1] ?? 0) | 0x80;
  const body = Buffer.from(payload.map((byte, index) => (masked ? byte ^ (mask[index % 4] ?? 0) : byte)));
  return Buffer.concat([head, mask, body]);
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
