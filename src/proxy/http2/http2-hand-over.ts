/** Hands an HTTP/2 socket of `node:http` to `node:http2`, bytes restored. Relies on Node's internals (tested). */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** The error of `node:http` for an unreadable request. */
export interface ClientError extends Error {
  readonly code?: string;
  /** The packet at which parsing stopped, and how much of it was read. */
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

/** Null unless this is HTTP/2 from the first byte on. Call it while the error is emitted. Removes every listener. */
export function takeHttp2Socket(socket: Duplex, error: ClientError): Socket | null {
  if (error.code !== 'HPE_PAUSED_H2_UPGRADE' || !(socket instanceof Socket)) return null;
  // Over TLS, HTTP/2 is negotiated in the handshake (RFC 9113 3.2).
  if (socket instanceof TLSSocket) return null;
  const rest = error.rawPacket?.subarray(error.bytesParsed) ?? Buffer.alloc(0);
  // A preface after an HTTP/1.1 request is none.
  if (socket.bytesRead - rest.length !== PREFACE.length) return null;
  const parser: unknown = Reflect.get(socket, 'parser');
  // A data listener makes `node:http` release the handle.
  socket.on('data', () => {});
  // `removeAllListeners()` would skip the stream's own bookkeeping.
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
  // `node:http` keeps half-closed connections; HTTP/2 must not.
  socket.allowHalfOpen = false;
  socket.on('end', () => socket.end());
  socket.setTimeout(0);
  socket.pause();
  socket.unshift(Buffer.concat([PREFACE, rest]));
  return socket;
}
