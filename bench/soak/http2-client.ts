/** A client of HTTP/2 without TLS, by prior knowledge: one session, one stream at a time. It never tries a call again. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { CallPlan } from '../kill/call-plan.ts';
import { type AnswerEnd, listHeaders, type RawAnswer, type RawClient } from '../kill/raw-client.ts';

/** Longer than any restart takes; a call that needs more hangs. */
const CALL_LIMIT_MS = 60_000;

export function createHttp2Client(port: number, gatewayKey: string): RawClient {
  let kept: ClientHttp2Session | null = null;

  async function call(plan: CallPlan): Promise<RawAnswer> {
    const former = kept !== null && !kept.destroyed && !kept.closed ? kept : null;
    const session = former ?? (await openSession(port));
    kept = session;
    if (session === null) return { ending: 'refused' };
    return { ...(await exchange(session, plan, gatewayKey)), wasReused: former !== null };
  }

  return { call, close: () => kept?.destroy() };
}

function openSession(port: number): Promise<ClientHttp2Session | null> {
  return new Promise((resolve) => {
    const session = connect(`http://127.0.0.1:${port}`);
    session.on('error', () => resolve(null)); // And later `close`, which is what counts.
    session.once('connect', () => resolve(session));
  });
}

function exchange(
  session: ClientHttp2Session,
  plan: CallPlan,
  gatewayKey: string,
): Promise<Omit<AnswerEnd, 'wasReused'>> {
  const { abort } = plan;
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bodyBytes = 0;
    let status: number | null = null;
    let gatewayError: string | null = null;
    let declaredBytes: number | null = null;
    let planned: 'aborted' | 'stuck' | null = null;
    const headers = Object.fromEntries(
      listHeaders(plan, gatewayKey).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const stream = session.request({ ':method': 'POST', ':path': plan.path, ...headers });
    const breakOff = (how: 'aborted' | 'stuck') => {
      planned ??= how;
      stream.close(constants.NGHTTP2_CANCEL);
    };
    const limit = setTimeout(() => breakOff('stuck'), CALL_LIMIT_MS);
    const impatience =
      abort?.kind === 'before-head'
        ? setTimeout(() => {
            if (status === null) breakOff('aborted');
          }, abort.afterMs)
        : undefined;
    stream.on('response', (answer) => {
      status = Number(answer[':status']);
      gatewayError = readText(answer['x-gateway-error']);
      const length = readText(answer['content-length']);
      declaredBytes = length === null ? null : Number(length);
    });
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bodyBytes += chunk.length;
      if (abort?.kind === 'mid-body' && bodyBytes >= abort.bytes) breakOff('aborted');
    });
    stream.on('error', () => {}); // `close` follows.
    stream.once('close', () => {
      clearTimeout(limit);
      clearTimeout(impatience);
      const isWhole = isComplete(stream) && (declaredBytes === null || declaredBytes === bodyBytes);
      resolve({
        ending: planned ?? (isWhole ? 'complete' : 'cut'),
        status,
        gatewayError,
        body: Buffer.concat(chunks),
      });
    });
    stream.end(plan.requestBody);
  });
}

function isComplete(stream: ClientHttp2Stream): boolean {
  return stream.readableEnded && !stream.aborted && stream.rstCode === constants.NGHTTP2_NO_ERROR;
}

function readText(value: string | readonly string[] | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
