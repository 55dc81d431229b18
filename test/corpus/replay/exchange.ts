/** A client that sends bytes in pieces and reads answers one after the other until the connection ends. For the corpus. */
import { connect } from 'node:net';

export interface Exchange {
  /** Everything that came. */
  readonly received: Buffer;
  /** `open`: the gateway waits for more. */
  readonly end: 'closed' | 'reset' | 'open';
}

export interface ExchangeOptions {
  /** With nothing coming and nothing left to send for this long, the connection counts as open. */
  readonly quietMs: number;
  /** Between two pieces; 0 for the next turn of the event loop. */
  readonly gapMs: number;
  /** All that was waited for has come. */
  readonly isDone?: (received: Buffer) => boolean;
}

export function exchange(
  port: number,
  pieces: readonly Buffer[],
  { quietMs, gapMs, isDone }: ExchangeOptions,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const parts: Buffer[] = [];
    const left = [...pieces];
    let end: Exchange['end'] = 'closed';
    let quiet: NodeJS.Timeout | null = null;

    function restartQuiet(): void {
      if (quiet !== null) clearTimeout(quiet);
      if (left.length > 0) return;
      quiet = setTimeout(() => {
        end = 'open';
        socket.destroy();
      }, quietMs);
    }
    function send(): void {
      const piece = left.shift();
      if (piece === undefined || socket.destroyed) return;
      socket.write(piece);
      if (left.length === 0) restartQuiet();
      else if (gapMs === 0) setImmediate(send);
      else setTimeout(send, gapMs);
    }
    socket.on('connect', send);
    socket.on('data', (bytes: Buffer) => {
      parts.push(bytes);
      // As a client does; what is sent on would be answered by a reset, which takes away what is still to be read.
      if (left.length > 0 && /\r\nConnection: [^\r]*close/i.test(bytes.toString('latin1'))) {
        left.length = 0;
        socket.end();
      }
      if (isDone?.(Buffer.concat(parts)) !== true) restartQuiet();
      else {
        end = 'open';
        socket.destroy();
      }
    });
    socket.on('error', () => {
      end = 'reset';
    });
    socket.on('close', () => {
      if (quiet !== null) clearTimeout(quiet);
      resolve({ received: Buffer.concat(parts), end });
    });
  });
}

export interface ReadAnswer {
  readonly status: number;
  /** The code of a refusal of the gateway's. */
  readonly code: string | null;
  readonly head: string;
  readonly body: string;
}

export interface ReadAnswers {
  readonly answers: readonly ReadAnswer[];
  /** What stands behind the last whole answer; an answer that was cut, or bytes that are none. */
  readonly rest: string;
}

const ANSWER_HEAD =
  /^HTTP\/1\.1 ([1-5]\d\d) [\t\x20-\x7e\x80-\xff]*(?:\r\n[!#$%&'*+.^_`|~0-9A-Za-z-]+: ?[\t\x20-\x7e\x80-\xff]*)*$/;

/** Interim answers are left out. `methods`: of the requests, in order, since an answer to HEAD has no body. */
export function readAnswers(received: Buffer, methods: readonly string[] = []): ReadAnswers {
  const answers: ReadAnswer[] = [];
  let text = received.toString('latin1');
  for (;;) {
    const end = text.indexOf('\r\n\r\n');
    const head = text.slice(0, Math.max(0, end));
    const status = Number(ANSWER_HEAD.exec(head)?.[1] ?? 0);
    if (status === 0) return { answers, rest: text };
    const behind = text.slice(end + 4);
    if (status < 200) {
      text = behind;
      continue;
    }
    const isBodiless = methods[answers.length] === 'HEAD' || status === 204 || status === 304;
    const taken = isBodiless ? { body: '', bytes: 0 } : takeBody(head, behind);
    if (taken === null) return { answers, rest: text };
    answers.push({ status, code: /\r\nX-Gateway-Error: (\S+)/i.exec(head)?.[1] ?? null, head, body: taken.body });
    text = behind.slice(taken.bytes);
  }
}

/** Null when it is not whole. An answer without a length would end with the connection; the gateway sends none such here. */
function takeBody(head: string, behind: string): { body: string; bytes: number } | null {
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length !== undefined) {
    const bytes = Number(length);
    return behind.length < bytes ? null : { body: behind.slice(0, bytes), bytes };
  }
  if (!/\r\ntransfer-encoding: chunked/i.test(head)) return { body: behind, bytes: behind.length };
  let at = 0;
  let body = '';
  for (;;) {
    const size = /^([0-9a-f]+)\r\n/i.exec(behind.slice(at, at + 20));
    if (size === null) return null;
    const bytes = Number.parseInt(size[1] ?? '', 16);
    at += size[0].length;
    if (behind.slice(at + bytes, at + bytes + 2) !== '\r\n') return null;
    body += behind.slice(at, at + bytes);
    at += bytes + 2;
    if (bytes === 0) return { body, bytes: at };
  }
}
