/**
 * A scripted provider for tests: records exactly what arrived and answers with exactly the bytes it is told, on
 * node:net with its own small reading of HTTP/1.1. It knows no provider's API; for answers that look like a
 * provider's, see the fixtures and `src/demo`.
 */
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BodyReader, createBodyReader, readFraming, readHeader, splitHeaderLines } from './http-body-reader.ts';
import { type AnswerStep, buildAnswer } from './scripted-answer.ts';

export interface RecordedRequest {
  /** Which connection it came on, counted from 0: tells whether connections are kept and reused. */
  readonly connection: number;
  /** Without its line end, Latin-1. */
  readonly requestLine: string;
  readonly method: string;
  readonly target: string;
  /** All bytes of the head, from the request line to the empty line. */
  readonly headBytes: Buffer;
  /** Flat, as received: name, value, name, value; Latin-1. */
  readonly rawHeaders: readonly string[];
  readonly header: (name: string) => string | null;
  /** The body without chunk framing; what has come so far while it is still coming. */
  readonly body: () => Buffer;
  readonly framedBody: () => Buffer;
  readonly trailers: () => readonly string[];
  readonly isWhole: () => boolean;
  /** Resolves when the connection is gone, in whatever way: an abort by the client must arrive here. */
  readonly closed: Promise<void>;
}

export type Answer = readonly AnswerStep[];
export type AnswerHandler = (request: RecordedRequest, index: number) => Answer | Promise<Answer>;

export interface ScriptedProviderOptions {
  /** Called when a request is whole; without one every answer is `200 {}`. */
  readonly answer?: AnswerHandler;
  /** Called when a head is there; an answer other than null is written at once, whatever becomes of the body. */
  readonly answerHead?: (request: RecordedRequest) => Answer | null;
  /** The id by which executed calls are counted; by default the header `x-call-id`. */
  readonly callIdOf?: (request: RecordedRequest) => string | null;
}

export interface ScriptedProvider {
  readonly origin: string;
  readonly port: number;
  /** In order of their heads; a request whose body is still coming is among them. */
  readonly requests: readonly RecordedRequest[];
  /** How often each call was executed: whole requests by id. */
  readonly ledger: ReadonlyMap<string, number>;
  readonly connectionCount: () => number;
  /** The request of that index once it is whole; rejects after `limitMs`. */
  readonly waitForRequest: (index: number, limitMs?: number) => Promise<RecordedRequest>;
  /** From now on. */
  readonly setAnswer: (answer: AnswerHandler) => void;
  readonly close: () => Promise<void>;
}

const HEAD_LIMIT_BYTES = 1024 * 1024;
const WAIT_LIMIT_MS = 10_000;
const HEAD_END = Buffer.from('\r\n\r\n');

async function writeAnswer(socket: Socket, answer: Answer): Promise<void> {
  for (const step of answer) {
    if (socket.destroyed) return;
    if ('write' in step) {
      const bytes = typeof step.write === 'string' ? Buffer.from(step.write, 'latin1') : step.write;
      // Waits until the kernel has it: a stalled client stalls the script, as it stalls a provider.
      await new Promise<void>((resolve) => {
        socket.once('close', resolve);
        socket.write(bytes, () => {
          socket.off('close', resolve);
          resolve();
        });
      });
    } else if ('waitMs' in step) await sleep(step.waitMs);
    else if ('waitFor' in step) await step.waitFor;
    else if ('reset' in step) socket.resetAndDestroy();
    else socket.end();
  }
}

function readHead(
  headBytes: Buffer,
  connection: number,
  reader: BodyReader,
  closed: Promise<void>,
  rawHeaders: string[],
) {
  const requestLine = headBytes.toString('latin1', 0, headBytes.indexOf('\r\n'));
  const [method = '', target = ''] = requestLine.split(' ');
  const request: RecordedRequest = {
    connection,
    requestLine,
    method,
    target,
    headBytes,
    rawHeaders,
    header: (name) => readHeader(rawHeaders, name),
    body: reader.body,
    framedBody: reader.framedBody,
    trailers: reader.trailers,
    isWhole: reader.isDone,
    closed,
  };
  return request;
}

export async function startScriptedProvider(options: ScriptedProviderOptions = {}): Promise<ScriptedProvider> {
  const requests: RecordedRequest[] = [];
  const ledger = new Map<string, number>();
  const sockets = new Set<Socket>();
  const waiters = new Set<() => void>();
  const callIdOf = options.callIdOf ?? ((request: RecordedRequest) => request.header('x-call-id'));
  let answer: AnswerHandler = options.answer ?? (() => buildAnswer({ body: '{}' }));
  let connectionCount = 0;

  async function answerWhole(socket: Socket, request: RecordedRequest): Promise<void> {
    const callId = callIdOf(request);
    if (callId !== null) ledger.set(callId, (ledger.get(callId) ?? 0) + 1);
    await writeAnswer(socket, await answer(request, requests.indexOf(request)));
  }

  function serve(socket: Socket): void {
    const connection = connectionCount++;
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    let pending: Buffer = Buffer.alloc(0);
    let current: {
      readonly request: RecordedRequest;
      readonly reader: BodyReader;
      readonly isAnswered: boolean;
    } | null = null;
    // Answers leave one after another, also when requests are pipelined.
    let turn: Promise<void> = Promise.resolve();
    const enqueue = (work: () => Promise<void>) => {
      turn = turn.then(work).catch((error: unknown) => {
        socket.destroy(error instanceof Error ? error : undefined);
      });
    };

    function takeHead(): boolean {
      const end = pending.indexOf(HEAD_END);
      if (end < 0) {
        if (pending.length > HEAD_LIMIT_BYTES) socket.destroy();
        return false;
      }
      const headBytes = Buffer.from(pending.subarray(0, end + HEAD_END.length));
      pending = pending.subarray(headBytes.length);
      const rawHeaders = splitHeaderLines(headBytes.toString('latin1', 0, end).split('\r\n').slice(1));
      const reader = createBodyReader(readFraming(rawHeaders, 'none'));
      const request = readHead(headBytes, connection, reader, closed, rawHeaders);
      requests.push(request);
      const early = options.answerHead?.(request) ?? null;
      if (early !== null) enqueue(() => writeAnswer(socket, early));
      else if (request.header('expect') !== null)
        enqueue(() => writeAnswer(socket, [{ write: 'HTTP/1.1 100 Continue\r\n\r\n' }]));
      current = { request, reader, isAnswered: early !== null };
      return true;
    }

    socket.on('error', () => {}); // a reset by the client; `closed` tells
    socket.on('data', (bytes: Buffer) => {
      pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
      while (current !== null || takeHead()) {
        if (current === null) return;
        const { request, reader, isAnswered } = current;
        pending = pending.subarray(reader.push(pending));
        if (!reader.isDone()) return;
        current = null;
        for (const wake of waiters) wake();
        if (!isAnswered) enqueue(() => answerWhole(socket, request));
      }
    });
  }

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');

  return {
    origin: `http://127.0.0.1:${address.port}`,
    port: address.port,
    requests,
    ledger,
    connectionCount: () => connectionCount,
    waitForRequest: (index, limitMs = WAIT_LIMIT_MS) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiters.delete(check);
          reject(new Error(`request ${index} did not arrive within ${limitMs} ms; ${requests.length} have come`));
        }, limitMs);
        const check = () => {
          const request = requests[index];
          if (request === undefined || !request.isWhole()) return;
          clearTimeout(timer);
          waiters.delete(check);
          resolve(request);
        };
        waiters.add(check);
        check();
      }),
    setAnswer: (next) => {
      answer = next;
    },
    close: async () => {
      const ended = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await ended;
    },
  };
}
