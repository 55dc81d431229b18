/**
 * The bytes of HTTP/2 that a well-behaved client never sends, or never in such pieces: frames by hand (RFC 9113 4.1),
 * headers as literals (RFC 7541 6.2.2), and a socket that shows all that comes back.
 */
import { connect } from 'node:net';

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const HEADERS = 1;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const WINDOW_UPDATE = 8;
const INITIAL_WINDOW_SIZE = 4;
export const END_STREAM = 0x1;
export const END_HEADERS = 0x4;

export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

export const SETTINGS_FRAME = frame(SETTINGS, 0, 0, Buffer.alloc(0));

/** A request without a body. Names and values below 127 bytes. */
export function requestFrame(stream: number, headers: readonly (readonly [string, string])[]): Buffer {
  const block = headers.flatMap(([name, value]) => [
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
  return frame(HEADERS, END_HEADERS | END_STREAM, stream, Buffer.concat(block));
}

export function resetFrame(stream: number, code: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(code);
  return frame(RST_STREAM, 0, stream, payload);
}

/** How much of a stream may come before `windowUpdate`. */
export function windowSetting(bytes: number): Buffer {
  const payload = Buffer.alloc(6);
  payload.writeUInt16BE(INITIAL_WINDOW_SIZE, 0);
  payload.writeUInt32BE(bytes, 2);
  return frame(SETTINGS, 0, 0, payload);
}

export function windowUpdate(stream: number, bytes: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return frame(WINDOW_UPDATE, 0, stream, payload);
}

const GET = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'gateway'],
] as const;
export const HEALTH_REQUEST = [...GET, [':path', '/healthz']] as const;
export const MODELS_REQUEST = [...GET, [':path', '/v1/models']] as const;

/** Sends these pieces a little apart; resolves with what has come once it includes `until`, or the socket closes. */
export function exchangeBytes(port: number, pieces: readonly Buffer[], until: Buffer | string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let received: Buffer = Buffer.alloc(0);
    const done = (): void => {
      clearInterval(timer);
      socket.destroy();
      resolve(received);
    };
    const left = [...pieces];
    const send = (): void => {
      const next = left.shift();
      if (next !== undefined) socket.write(next);
    };
    const timer = setInterval(send, 20);
    socket.on('connect', send);
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      if (received.includes(until)) done();
    });
    socket.on('error', reject).on('close', done);
  });
}
