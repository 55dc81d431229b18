/**
 * One client on one kept connection, on bare sockets: it tells exactly whether the last byte of an answer arrived (the
 * final chunk, or all of the declared length). It never tries a call again.
 */
import { connect, type Socket } from 'node:net';
import {
  type BodyReader,
  createBodyReader,
  readFraming,
  readHeader,
  splitHeaderLines,
} from '../../test/support/http-body-reader.ts';
import { type CallPlan, type ClientAbort, numberOf, spanPathOf } from './call-plan.ts';

/** Longer than any restart takes; a call that needs more hangs. */
const CALL_LIMIT_MS = 60_000;

export interface AnswerEnd {
  /**
   * `cut`: the connection ended before the last byte. `aborted`: by this client itself, as planned. `stuck`: it waited
   * in vain.
   */
  readonly ending: 'complete' | 'cut' | 'aborted' | 'stuck';
  /** Null when no head had come. */
  readonly status: number | null;
  /** `X-Gateway-Error`. */
  readonly gatewayError: string | null;
  readonly body: Buffer;
  /** The connection had carried a call before. */
  readonly wasReused: boolean;
  /** For a websocket: how many bytes had come at which times; monotonic. */
  readonly arrivals?: readonly Arrival[];
}

export interface Arrival {
  readonly bytes: number;
  readonly atMs: number;
}

/** `refused`: no connection, so nothing was sent. */
export type RawAnswer = AnswerEnd | { readonly ending: 'refused' };

export interface RawClient {
  readonly call: (plan: CallPlan) => Promise<RawAnswer>;
  readonly close: () => void;
}

export interface RawClientOptions {
  /** Every call on a connection of its own. */
  readonly isFresh?: boolean;
}

export function createRawClient(port: number, gatewayKey: string, options: RawClientOptions = {}): RawClient {
  let kept: Socket | null = null;

  async function call(plan: CallPlan): Promise<RawAnswer> {
    const former = kept !== null && !kept.destroyed ? kept : null;
    const socket = former ?? (await openConnection(port));
    kept = null;
    if (socket === null) return { ending: 'refused' };
    const { answer, isKept } = await exchange(socket, formatRequest(plan, port, gatewayKey), plan.abort ?? null);
    if (isKept && options.isFresh !== true && plan.abort === undefined) kept = socket;
    else socket.destroy();
    return { ...answer, wasReused: former !== null };
  }

  return { call, close: () => kept?.destroy() };
}

export function openConnection(port: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const onFailure = () => resolve(null);
    socket.once('error', onFailure);
    socket.once('connect', () => {
      socket.off('error', onFailure);
      socket.on('error', () => {}); // `close` follows, and is what counts.
      resolve(socket);
    });
  });
}

/** All but those of the connection. */
export function listHeaders(plan: CallPlan, gatewayKey: string): readonly (readonly [string, string])[] {
  const n = numberOf(plan.id) ?? 0;
  return [
    ['Content-Type', 'application/json'],
    ['Content-Length', String(Buffer.byteLength(plan.requestBody))],
    ...(plan.expected.provider === 'openai'
      ? ([['Authorization', 'Bearer not-a-real-credential']] as const)
      : ([
          ['x-api-key', 'not-a-real-credential'],
          ['anthropic-version', '2023-06-01'],
        ] as const)),
    ['x-call-id', plan.id],
    ['X-Gateway-Key', gatewayKey],
    ['X-Gateway-Trace-Id', plan.expected.traceId],
    ['X-Gateway-Span-Path', spanPathOf(n)],
    ['X-Gateway-Call-Id', plan.id],
  ];
}

function formatRequest(plan: CallPlan, port: number, gatewayKey: string): string {
  return [
    `POST ${plan.path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    ...listHeaders(plan, gatewayKey).map(([name, value]) => `${name}: ${value}`),
    '',
    plan.requestBody,
  ].join('\r\n');
}

export interface Head {
  readonly status: number;
  readonly gatewayError: string | null;
  readonly reader: BodyReader;
  readonly closes: boolean;
}

/** The head of an answer; null while it is not whole. */
export function readHead(bytes: Buffer): { head: Head; length: number } | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const rawHeaders = splitHeaderLines(lines);
  const head = {
    status: Number(statusLine.split(' ')[1]),
    gatewayError: readHeader(rawHeaders, 'x-gateway-error'),
    reader: createBodyReader(readFraming(rawHeaders, 'close')),
    closes: /\bclose\b/i.test(readHeader(rawHeaders, 'connection') ?? ''),
  };
  return { head, length: end + 4 };
}

function exchange(
  socket: Socket,
  request: string,
  abort: ClientAbort | null,
): Promise<{ answer: Omit<AnswerEnd, 'wasReused'>; isKept: boolean }> {
  return new Promise((resolve) => {
    let pending: Buffer = Buffer.alloc(0);
    let head: Head | null = null;
    let bodyBytes = 0;

    function settle(ending: AnswerEnd['ending']): void {
      clearTimeout(limit);
      clearTimeout(impatience);
      socket.off('data', onData);
      socket.off('close', onClose);
      resolve({
        answer: {
          ending,
          status: head?.status ?? null,
          gatewayError: head?.gatewayError ?? null,
          body: head?.reader.body() ?? Buffer.alloc(0),
        },
        isKept: ending === 'complete' && head?.closes === false && !socket.destroyed,
      });
    }

    function onData(bytes: Buffer): void {
      let rest = bytes;
      if (head === null) {
        pending = Buffer.concat([pending, bytes]);
        const read = readHead(pending);
        if (read === null) return;
        head = read.head;
        rest = pending.subarray(read.length);
      }
      head.reader.push(rest);
      bodyBytes += rest.length;
      if (head.reader.isDone()) settle('complete');
      else if (abort?.kind === 'mid-body' && bodyBytes >= abort.bytes) settle('aborted');
    }

    const onClose = () => settle('cut');
    const limit = setTimeout(() => settle('stuck'), CALL_LIMIT_MS);
    const impatience =
      abort?.kind === 'before-head'
        ? setTimeout(() => {
            if (head === null) settle('aborted');
          }, abort.afterMs)
        : undefined;
    socket.on('data', onData);
    socket.once('close', onClose);
    if (socket.destroyed) settle('cut');
    else socket.write(request);
  });
}
