/**
 * Takes a socket on which HTTP/2 has begun from `node:http`, and gives it back as if nothing had been read, so that
 * `node:http2` can have it. A sniff before `node:http` would be simpler, and every HTTP/1.1 connection would pay for it.
 * It leans on insides of Node; the tests of the proxy's HTTP/2 tell when they have changed.
 */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** As `node:http` gives it for a request that it could not read. */
export interface ClientError extends Error {
  readonly code?: string;
  /** The packet it gave up on, and how much of it was read. */
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

interface Parser {
  remove(): void;
  close(): void;
}

function isParser(value: unknown): value is Parser {
  return typeof value === 'object' && value !== null && 'remove' in value && 'close' in value;
}

/** Null when this is not HTTP/2 from the connection's first byte on. To be called while the error is being emitted. */
export function takeHttp2Socket(socket: Duplex, error: ClientError): Socket | null {
  if (error.code !== 'HPE_PAUSED_H2_UPGRADE' || !(socket instanceof Socket)) return null;
  // Over TLS it is agreed on in the handshake (RFC 9113 3.2).
  if (socket instanceof TLSSocket) return null;
  const rest = error.rawPacket?.subarray(error.bytesParsed) ?? Buffer.alloc(0);
  // Behind an HTTP/1.1 request, whose answer may still be on its way, a preface is not one.
  if (socket.bytesRead - rest.length !== PREFACE.length) return null;
  const parser: unknown = Reflect.get(socket, 'parser');
  // With a listener for data `node:http` lets go of the handle.
  socket.on('data', () => {});
  // One by one: `removeAllListeners()` would go past what keeps the stream's own state in step.
  for (const event of socket.eventNames()) {
    for (const listener of socket.rawListeners(event)) Reflect.apply(socket.removeListener, socket, [event, listener]);
  }
  for (const method of ['on', 'addListener', 'prependListener', 'setEncoding']) Reflect.deleteProperty(socket, method);
  Reflect.set(socket, 'parser', null);
  Reflect.set(socket, '_httpMessage', null);
  if (isParser(parser)) {
    parser.remove(); // from the list of those whose heads are timed
    setImmediate(() => parser.close()); // it is running now; without this its memory stays
  }
  // `node:http` keeps a connection that the client has half-closed; with HTTP/2 that is the end, as `node:net` has it.
  socket.allowHalfOpen = false;
  socket.on('end', () => socket.end());
  socket.setTimeout(0);
  socket.pause();
  socket.unshift(Buffer.concat([PREFACE, rest]));
  return socket;
}
