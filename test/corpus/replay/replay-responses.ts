/**
 * Lets a hostile provider answer calls of clients of HTTP/1.1, HTTP/1.0 and HTTP/2, each followed by an ordinary call, and
 * says what a client got that it should not have, and which record does not say what happened.
 */
import type { ClientHttp2Session } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { readHttp2Answer } from '../../proxy/read-http2-answer.ts';
import type { InProcessProxy, RecordedCall } from '../../proxy/start-proxy.ts';
import { readHeader } from '../../support/http-body-reader.ts';
import { readRawAnswer } from '../../support/read-raw-answer.ts';
import type { ResponseCase } from '../cases/response-cases.ts';
import type { HostileProvider } from './hostile-provider.ts';

export type ClientProtocol = 'HTTP/1.1' | 'HTTP/1.0' | 'HTTP/2';

interface ClientAnswer {
  readonly status: number;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly trailers: readonly string[];
  readonly isComplete: boolean;
}

export interface Replayed {
  readonly wrong: readonly string[];
  /** The id of the call's record; null when the client got no head. */
  readonly id: string | null;
}

const ARRIVAL_MS = 10;
const CHAT = '{"model":"m","stream":true,"messages":[]}';

async function ask(
  proxy: InProcessProxy,
  session: ClientHttp2Session,
  protocol: ClientProtocol,
  { method, isChat, trailers }: Pick<ResponseCase, 'method' | 'isChat' | 'trailers'>,
  token: string,
): Promise<ClientAnswer> {
  const target = isChat ? `/v1/chat/completions?${token}` : `/v1/models?${token}`;
  const verb = isChat ? 'POST' : method;
  if (protocol === 'HTTP/2') {
    const answer = await readHttp2Answer(session, {
      method: verb,
      path: target,
      headers: ['x-gateway-key', proxy.key, ...(trailers === null ? [] : ['te', 'trailers'])],
      ...(isChat ? { body: CHAT } : {}),
    });
    return { ...answer, trailers: answer.rawTrailers, isComplete: answer.end === 'complete' };
  }
  const lines = [`${verb} ${target} ${protocol}`, 'Host: gateway.test', `X-Gateway-Key: ${proxy.key}`];
  if (trailers !== null) lines.push('TE: trailers', 'Connection: TE');
  if (isChat) lines.push(`Content-Length: ${CHAT.length}`);
  const answer = await readRawAnswer('127.0.0.1', proxy.port, [...lines, '', isChat ? CHAT : ''].join('\r\n'));
  return { ...answer, isComplete: answer.end === 'complete' };
}

export async function replayResponse(
  testCase: ResponseCase,
  proxy: InProcessProxy,
  provider: HostileProvider,
  session: ClientHttp2Session,
  protocol: ClientProtocol,
  number: number,
): Promise<Replayed> {
  const { outcome, steps } = testCase;
  provider.setSteps(steps);
  const answer = await ask(proxy, session, protocol, testCase, `case${number}`);
  // What comes unasked comes on an idle connection: once the next call is on its way nobody could tell it from an answer.
  if (steps.some((step) => 'waitMs' in step)) {
    await provider.played();
    await sleep(ARRIVAL_MS);
  }
  const good = await ask(proxy, session, protocol, { method: 'GET', isChat: false, trailers: null }, `good${number}`);
  const wrong = checkAnswer(answer, outcome);
  const trailers = protocol === 'HTTP/1.0' ? [] : (testCase.trailers ?? []);
  if (answer.trailers.join('\n') !== trailers.join('\n'))
    wrong.push(`the trailers ${JSON.stringify(answer.trailers).slice(0, 200)}`);
  if (good.body.toString() !== `{"token":"/v1/models?good${number}"}` || !good.isComplete)
    wrong.push(`the next call got ${good.status} ${good.body.toString('latin1', 0, 100)}`);
  const all = `${answer.rawHeaders.join('\n')}${answer.trailers.join('\n')}${answer.body.toString('latin1')}${good.rawHeaders.join('\n')}`;
  if (all.includes('POISON')) wrong.push('poison');
  return { wrong, id: readHeader(answer.rawHeaders, 'x-gateway-request-id') };
}

function checkAnswer(answer: ClientAnswer, outcome: ResponseCase['outcome']): string[] {
  // A reset, which tells an HTTP/1.0 client of a cut, may take the head away that was sent before it.
  if (outcome.kind === 'cut' && answer.status === 0 && !answer.isComplete) return [];
  const wrong: string[] = [];
  const code = readHeader(answer.rawHeaders, 'x-gateway-error');
  const got = `${answer.status} ${code ?? ''} ${answer.isComplete ? 'whole' : 'cut'} ${answer.body.toString('latin1', 0, 80)}`;
  if (outcome.kind === 'no answer') {
    if (code !== outcome.code || !answer.isComplete) wrong.push(`got ${got}`);
    return wrong;
  }
  const expected = Buffer.isBuffer(outcome.body) ? outcome.body : Buffer.from(outcome.body, 'latin1');
  if (code !== null || answer.status !== outcome.status) wrong.push(`got ${got}`);
  if (answer.isComplete !== (outcome.kind === 'whole')) wrong.push(`ended as ${got}`);
  const isRight =
    outcome.kind === 'whole'
      ? answer.body.equals(expected)
      : answer.body.equals(expected.subarray(0, answer.body.length));
  if (!isRight) wrong.push(`the body of ${got}`);
  return wrong;
}

/** What the record has to say of it. */
export function checkRecord({ outcome }: ResponseCase, call: RecordedCall | undefined): string[] {
  if (call === undefined) return ['no record'];
  const { end } = call;
  const expected =
    outcome.kind === 'no answer'
      ? 'upstream_unreachable'
      : outcome.kind === 'cut'
        ? 'upstream_truncated'
        : outcome.status >= 400
          ? 'upstream_error'
          : outcome.isShort === true
            ? 'upstream_truncated'
            : outcome.isStreamError === true
              ? 'upstream_stream_error'
              : 'ok';
  const wrong: string[] = [];
  if (end.outcome !== expected) wrong.push(`the record says ${end.outcome}, not ${expected}`);
  if (outcome.kind !== 'no answer' && end.status !== outcome.status) wrong.push(`the record says status ${end.status}`);
  if (outcome.kind === 'no answer' && end.errorType !== outcome.code) wrong.push(`the record says ${end.errorType}`);
  return wrong;
}
