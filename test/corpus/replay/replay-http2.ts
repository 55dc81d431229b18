/** Sends the cases of HTTP/2 to a proxy as frames, a good request on the next stream behind each, and says what is wrong. */
import { GATEWAY_ERRORS } from '../../../src/vocabulary/errors.ts';
import { END_HEADERS, END_STREAM, frame, PREFACE, SETTINGS_FRAME } from '../../proxy/http2-frames.ts';
import type { InProcessProxy } from '../../proxy/start-proxy.ts';
import type { Cut } from '../bytes.ts';
import { block, type Http2Case } from '../cases/http2-cases.ts';
import { KEY } from '../cases/request-case.ts';
import { exchange } from './exchange.ts';
import type { StrictProvider } from './strict-provider.ts';

const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const GOAWAY = 7;
/** For what does not come. */
const QUIET_MS = 1_000;
const CLOSE_MS = 3_000;
/** Its last stream, so that a case may use those before it. */
const GOOD_STREAM = 101;

function goodRequest(key: string): Buffer {
  const headers = [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':authority', 'gateway.test'],
    [':path', '/v1/models?good'],
    ['x-gateway-key', KEY],
  ] as const;
  return frame(HEADERS, END_HEADERS | END_STREAM, GOOD_STREAM, block(headers, key));
}

function messageOf(body: string | null): string | null {
  if (body === null || body === '') return null;
  const { message }: { message: string } = JSON.parse(Buffer.from(body, 'latin1').toString());
  return message;
}

interface Seen {
  /** The body of stream 1's answer; null without one. */
  readonly body: string | null;
  readonly isReset: boolean;
  readonly hasEnded: boolean;
  readonly hasGoodEnded: boolean;
  readonly isOver: boolean;
  readonly good: string;
}

function readFrames(received: Buffer): Seen {
  let at = 0;
  let body: string | null = null;
  let good = '';
  let isReset = false;
  let isOver = false;
  let hasEnded = false;
  let hasGoodEnded = false;
  while (at + 9 <= received.length) {
    const length = received.readUIntBE(at, 3);
    const type = received.readUInt8(at + 3);
    const isEnd = type === RST_STREAM || (type <= HEADERS && (received.readUInt8(at + 4) & END_STREAM) !== 0);
    const stream = received.readUInt32BE(at + 5);
    const payload = received.toString('latin1', at + 9, at + 9 + length);
    at += 9 + length;
    if (type === GOAWAY) isOver = true;
    if (stream === GOOD_STREAM && type === DATA) good += payload;
    if (stream === GOOD_STREAM && isEnd) hasGoodEnded = true;
    if (stream !== 1) continue;
    if (isEnd) hasEnded = true;
    if (type === HEADERS) body ??= '';
    if (type === DATA) body = (body ?? '') + payload;
    if (type === RST_STREAM) isReset = true;
  }
  return { body, isReset, hasEnded, hasGoodEnded, isOver, good };
}

/** An answer or a reset for both streams; with an open body only the good one has any. */
function isDone({ isOver, hasEnded, hasGoodEnded }: Seen, { kind }: Http2Case['outcome']): boolean {
  if (kind === 'session ended') return isOver;
  return hasGoodEnded && (hasEnded || kind === 'unfinished');
}

/** What is wrong; empty when all is as it has to be. */
export async function replayHttp2(
  { frames, outcome }: Http2Case,
  proxy: InProcessProxy,
  provider: StrictProvider,
  { cut, gapMs }: Cut,
): Promise<string[]> {
  const seenBefore = provider.requests.length;
  const faultsBefore = provider.faults.length;
  const sent = Buffer.concat([PREFACE, SETTINGS_FRAME, ...frames(proxy.key), goodRequest(proxy.key)]);
  const { received, end } = await exchange(proxy.port, cut(sent), {
    quietMs: outcome.kind === 'session ended' ? CLOSE_MS : QUIET_MS,
    gapMs,
    isDone: (so) => isDone(readFrames(so), outcome),
  });
  const deadlineMs = performance.now() + 5_000;
  while (proxy.gateway.openCalls.size > 0 && performance.now() < deadlineMs)
    await new Promise((resolve) => setTimeout(resolve, 1));
  const { body, isReset, isOver, good } = readFrames(received);
  const seen = provider.requests.slice(seenBefore);
  const others = seen.filter((request) => request.target !== '/v1/models?good');
  const wrong = provider.faults.slice(faultsBefore).map((fault) => `the provider saw ${fault}`);
  if (received.includes('SECRET')) wrong.push('the client got back what it had sent');
  if (outcome.kind !== 'passed' && others.length > 0)
    wrong.push(`the provider got ${others.map((one) => one.target).join(', ')}`);
  const isClosed = isOver || end !== 'open';
  if (outcome.kind === 'session ended') {
    if (!isClosed) wrong.push(`the session goes on: ${body?.slice(0, 100) ?? (isReset ? 'reset' : 'nothing')}`);
    return wrong;
  }
  if (isClosed) wrong.push('the session ended');
  if (!good.includes('models?good')) wrong.push(`the request behind it got ${JSON.stringify(good.slice(0, 100))}`);
  switch (outcome.kind) {
    case 'refused':
      if (messageOf(body) !== GATEWAY_ERRORS[outcome.code].message)
        wrong.push(`got ${body ?? (isReset ? 'a reset' : 'nothing')}`);
      break;
    case 'stream reset':
      if (!isReset || body !== null) wrong.push(`got ${body ?? 'no reset'}`);
      break;
    case 'unfinished':
      if (body !== null || isReset) wrong.push(`got ${body ?? 'a reset'}`);
      break;
    case 'passed': {
      const [one] = others;
      if (others.length !== 1 || one?.method !== outcome.method || one.target !== outcome.target)
        wrong.push(
          `the provider got ${others.map((other) => `${other.method} ${other.target}`).join(', ') || 'nothing'}; ${body ?? isReset}`,
        );
      else if (one.body.toString('latin1') !== outcome.body)
        wrong.push(`the body ${one.body.toString('latin1', 0, 100)}`);
      break;
    }
  }
  return wrong;
}
