/**
 * A client that sends given bytes and returns the exact bytes of the answer: for comparing a call made directly with
 * the same call through the gateway. One request, one connection; no redirects, no decoding, no opinion.
 */
import { connect } from 'node:net';
import { type BodyReader, createBodyReader, type Framing, readFraming, splitHeaderLines } from './http-body-reader.ts';

export interface RawAnswer {
  readonly status: number;
  /** Heads of 1xx answers that came before. */
  readonly informational: readonly Buffer[];
  /** From the status line to the empty line; empty when no whole head came. */
  readonly head: Buffer;
  readonly statusLine: string;
  /** Flat, as received, Latin-1. */
  readonly rawHeaders: readonly string[];
  readonly framedBody: Buffer;
  /** Without chunk framing, still in its content encoding. */
  readonly body: Buffer;
  readonly chunkLines: readonly string[];
  readonly trailers: readonly string[];
  /** `complete`: as its framing says. `cut`: the connection ended before that. `reset`: it was reset before that. */
  readonly end: 'complete' | 'cut' | 'reset';
}

export interface ReadRawAnswerOptions {
  readonly limitMs?: number;
  /** Called with each piece of the body as it comes, e.g. to abort or to see that nothing is held back. */
  readonly onBody?: (bytesSoFar: number, abort: () => void) => void;
}

const LIMIT_MS = 30_000;

function framingOf(method: string, status: number, rawHeaders: readonly string[]): Framing {
  if (method === 'HEAD' || status === 204 || status === 304) return { kind: 'none' };
  return readFraming(rawHeaders, 'close');
}

export function readRawAnswer(
  host: string,
  port: number,
  requestBytes: Buffer | string,
  options: ReadRawAnswerOptions = {},
): Promise<RawAnswer> {
  const request = typeof requestBytes === 'string' ? Buffer.from(requestBytes, 'latin1') : requestBytes;
  const method = request.toString('latin1', 0, request.indexOf(' '));
  const { limitMs = LIMIT_MS, onBody } = options;

  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    const informational: Buffer[] = [];
    let pending: Buffer = Buffer.alloc(0);
    let head: Buffer = Buffer.alloc(0);
    let status = 0;
    let rawHeaders: readonly string[] = [];
    let reader: BodyReader = createBodyReader({ kind: 'close' });
    let isCloseFramed = false;
    let wasReset = false;
    let hasEnded = false;

    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no whole answer within ${limitMs} ms; the head ${head.length > 0 ? 'has' : 'has not'} come`));
    }, limitMs);

    function takeHead(): boolean {
      const end = pending.indexOf('\r\n\r\n');
      if (end < 0) return false;
      const bytes = Buffer.from(pending.subarray(0, end + 4));
      pending = pending.subarray(bytes.length);
      const lines = bytes.toString('latin1', 0, end).split('\r\n');
      status = Number(lines[0]?.split(' ')[1]);
      if (status >= 100 && status < 200) {
        informational.push(bytes);
        return takeHead();
      }
      head = bytes;
      rawHeaders = splitHeaderLines(lines.slice(1));
      const framing = framingOf(method, status, rawHeaders);
      isCloseFramed = framing.kind === 'close';
      reader = createBodyReader(framing);
      return true;
    }

    const isComplete = () => head.length > 0 && (reader.isDone() || (isCloseFramed && hasEnded));

    socket.on('connect', () => socket.write(request));
    socket.on('data', (bytes: Buffer) => {
      pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
      if (head.length === 0 && !takeHead()) return;
      pending = pending.subarray(reader.push(pending));
      onBody?.(reader.framedBody().length, () => socket.destroy());
      if (reader.isDone()) socket.destroy();
    });
    socket.on('end', () => {
      hasEnded = true;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      wasReset = error.code === 'ECONNRESET' || error.code === 'EPIPE';
      if (!wasReset) reject(error);
    });
    socket.on('close', () => {
      clearTimeout(timer);
      resolve({
        status,
        informational,
        head,
        statusLine: head.toString('latin1', 0, Math.max(0, head.indexOf('\r\n'))),
        rawHeaders,
        framedBody: reader.framedBody(),
        body: reader.body(),
        chunkLines: reader.chunkLines(),
        trailers: reader.trailers(),
        end: isComplete() ? 'complete' : wasReset ? 'reset' : 'cut',
      });
    });
  });
}
