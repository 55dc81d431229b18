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
} from '../../test/http-body-reader.ts';
import { type CallPlan, numberOf, spanPathOf } from './call-plan.ts';

/** Longer than any restart takes; a call that needs more hangs. */
const CALL_LIMIT_MS = 60_000;

export type RawAnswer =
  | { readonly ending: 'complete'; readonly status: number; readonly body: Buffer }
  /** The connection ended before the last byte. `status` is null when no head had come. */
  | { readonly ending: 'cut' | 'stuck'; readonly status: number | null; readonly body: Buffer }
  /** No connection, so nothing was sent. */
  | { readonly ending: 'refused' };

export interface RawClient {
  readonly call: (plan: CallPlan) => Promise<RawAnswer>;
  readonly close: () => void;
}

export function createRawClient(port: number, gatewayKey: string): RawClient {
  let kept: Socket | null = null;

  async function call(plan: CallPlan): Promise<RawAnswer> {
    const socket = kept !== null && !kept.destroyed ? kept : await openConnection(port);
    kept = null;
    if (socket === null) return { ending: 'refused' };
    const { answer, isKept } = await exchange(socket, formatRequest(plan, port, gatewayKey));
    if (isKept) kept = socket;
    else socket.destroy();
    return answer;
  }

  return { call, close: () => kept?.destroy() };
}

function openConnection(port: number): Promise<Socket | null> {
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

function formatRequest(plan: CallPlan, port: number, gatewayKey: string): string {
  const n = numberOf(plan.id) ?? 0;
  return [
    `POST ${plan.path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(plan.requestBody)}`,
    ...(plan.expected.provider === 'openai'
      ? ['Authorization: Bearer not-a-real-credential']
      : ['x-api-key: not-a-real-credential', 'anthropic-version: 2023-06-01']),
    `x-call-id: ${plan.id}`,
    `X-Gateway-Key: ${gatewayKey}`,
    `X-Gateway-Trace-Id: ${plan.expected.traceId}`,
    `X-Gateway-Span-Path: ${spanPathOf(n)}`,
    `X-Gateway-Call-Id: ${plan.id}`,
    '',
    plan.requestBody,
  ].join('\r\n');
}

interface Head {
  readonly status: number;
  readonly reader: BodyReader;
  readonly closes: boolean;
}

function readHead(bytes: Buffer): { head: Head; length: number } | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const rawHeaders = splitHeaderLines(lines);
  const head = {
    status: Number(statusLine.split(' ')[1]),
    reader: createBodyReader(readFraming(rawHeaders, 'close')),
    closes: /\bclose\b/i.test(readHeader(rawHeaders, 'connection') ?? ''),
  };
  return { head, length: end + 4 };
}

function exchange(socket: Socket, request: string): Promise<{ answer: RawAnswer; isKept: boolean }> {
  return new Promise((resolve) => {
    let pending: Buffer = Buffer.alloc(0);
    let head: Head | null = null;

    function settle(ending: 'complete' | 'cut' | 'stuck'): void {
      clearTimeout(limit);
      socket.off('data', onData);
      socket.off('close', onClose);
      const body = head?.reader.body() ?? Buffer.alloc(0);
      if (ending === 'complete' && head !== null) {
        resolve({ answer: { ending, status: head.status, body }, isKept: !head.closes && !socket.destroyed });
      } else {
        const how = ending === 'stuck' ? 'stuck' : 'cut';
        resolve({ answer: { ending: how, status: head?.status ?? null, body }, isKept: false });
      }
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
      if (head.reader.isDone()) settle('complete');
    }

    const onClose = () => settle('cut');
    const limit = setTimeout(() => settle('stuck'), CALL_LIMIT_MS);
    socket.on('data', onData);
    socket.once('close', onClose);
    if (socket.destroyed) settle('cut');
    else socket.write(request);
  });
}
