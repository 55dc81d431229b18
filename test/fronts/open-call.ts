/** One call through a front, on a connection of its own, over HTTP/1.1 or HTTP/2; the answer piece by piece. */
import { connect, constants } from 'node:http2';
import { request } from 'node:https';
import type { Readable, Writable } from 'node:stream';
import { GATEWAY_NAME } from './front.ts';

export type HttpVersion = 'HTTP/1.1' | 'HTTP/2';

export interface Call {
  readonly port: number;
  readonly version: HttpVersion;
  /** The name that is asked for; the gateway's by default. */
  readonly name?: string;
  readonly method?: string;
  readonly path: string;
  /** The address that the client comes from; 127.0.0.1 by default. */
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent at once; without one the caller writes. */
  readonly body?: Buffer | string;
}

export interface Answer {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  /** The next piece, or null when the answer ended as it should; rejects when it was cut. */
  readonly next: () => Promise<Buffer | null>;
  readonly whole: () => Promise<Buffer>;
}

export interface OpenCall {
  readonly send: Writable;
  readonly answer: Promise<Answer>;
  readonly abort: () => void;
}

type HeaderValues = Readonly<Record<string, string | readonly string[] | number | undefined>>;

function readAnswer(status: number, headers: HeaderValues, stream: Readable, wasCut = () => false): Answer {
  const pieces = stream[Symbol.asyncIterator]();
  const next = async (): Promise<Buffer | null> => {
    const { done, value } = await pieces.next();
    if (done === true && wasCut()) throw new Error('the answer was cut');
    return done === true ? null : Buffer.from(value);
  };
  return {
    status,
    header: (name) => (headers[name] === undefined ? undefined : String(headers[name])),
    next,
    whole: async () => {
      const parts: Buffer[] = [];
      for (let part = await next(); part !== null; part = await next()) parts.push(part);
      return Buffer.concat(parts);
    },
  };
}

export function openCall(call: Call): OpenCall {
  const opened = call.version === 'HTTP/2' ? openHttp2(call) : openHttp1(call);
  // Who aborts does not wait for the answer.
  opened.answer.catch(() => {});
  if (call.body !== undefined && !opened.send.writableEnded) opened.send.end(call.body);
  return opened;
}

function openHttp1({
  port,
  from = '127.0.0.1',
  name = GATEWAY_NAME,
  method = 'POST',
  path,
  headers = {},
}: Call): OpenCall {
  const target = {
    host: '127.0.0.1',
    port,
    servername: name,
    rejectUnauthorized: false,
    agent: false,
    maxHeaderSize: 262_144,
    localAddress: from,
  };
  const outgoing = request({ ...target, method, path, headers: { host: name, ...headers } });
  const answer = new Promise<Answer>((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.once('response', (incoming) => resolve(readAnswer(incoming.statusCode ?? 0, incoming.headers, incoming)));
  });
  if (headers['expect'] !== undefined) outgoing.flushHeaders();
  return { send: outgoing, answer, abort: () => outgoing.destroy() };
}

function openHttp2({
  port,
  from = '127.0.0.1',
  name = GATEWAY_NAME,
  method = 'POST',
  path,
  headers = {},
}: Call): OpenCall {
  const session = connect(`https://${name}`, {
    ...{ host: '127.0.0.1', port, servername: name, rejectUnauthorized: false, localAddress: from },
    // The head of an answer may be large.
    maxHeaderListPairs: 1_000,
    settings: { maxHeaderListSize: 262_144 },
  });
  const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: method === 'GET' });
  const answer = new Promise<Answer>((resolve, reject) => {
    session.on('error', reject);
    stream.on('error', reject);
    stream.once('response', (received) => {
      // A reset that says "cancel" is an orderly end for Node.
      const wasCut = () => (stream.rstCode ?? 0) !== constants.NGHTTP2_NO_ERROR;
      resolve(readAnswer(received[':status'] ?? 0, received, stream, wasCut));
    });
  });
  stream.once('close', () => session.close());
  return { send: stream, answer, abort: () => stream.close(constants.NGHTTP2_CANCEL) };
}
