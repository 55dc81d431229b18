/**
 * Sends the cases of the corpus to a proxy, each with a second request right behind it, and says of each what was not
 * as it has to be: at the client, at the provider, and between them.
 */

import type { InProcessProxy } from '../../proxy/start-proxy.ts';
import type { Cut } from '../bytes.ts';
import { KEY, type RequestCase } from '../cases/request-case.ts';
import { exchange, type ReadAnswers, readAnswers } from './exchange.ts';
import type { SeenRequest, StrictProvider } from './strict-provider.ts';

/** What an attacker would like to have run. It is valid, so that nothing but its place keeps it from running. */
export const SECOND_TARGET = '/v1/models?second';

export function secondRequest(key: string): Buffer {
  return Buffer.from(
    `GET ${SECOND_TARGET} HTTP/1.1\r\nHost: gateway.test\r\nX-Gateway-Key: ${key}\r\nConnection: close\r\n\r\n`,
    'latin1',
  );
}

/** A server that waits is waiting after this; one that does not has closed long before `CLOSE_MS`. */
const QUIET_MS = 60;
const DRAINED_BYTES = 1024 * 1024;
const CLOSE_MS = 3_000;

/** What is wrong; empty when all is as it has to be. */
export async function replayRequest(
  { text, outcome }: RequestCase,
  proxy: InProcessProxy,
  provider: StrictProvider,
  { cut, gapMs }: Cut,
): Promise<string[]> {
  const seenBefore = provider.requests.length;
  const bytesBefore = provider.bytes();
  const faultsBefore = provider.faults.length;
  const sent = Buffer.concat([Buffer.from(text.replaceAll(KEY, proxy.key), 'latin1'), secondRequest(proxy.key)]);
  const isWaiting = outcome.kind === 'unfinished' || outcome.kind === 'streamed';
  const { received, end } = await exchange(proxy.port, cut(sent), { quietMs: isWaiting ? QUIET_MS : CLOSE_MS, gapMs });
  await settled(proxy);
  const seen = provider.requests.slice(seenBefore);
  const providerBytes = provider.bytes() - bytesBefore;
  const wrong = provider.faults.slice(faultsBefore).map((fault) => `the provider saw ${fault}`);
  const methods = outcome.kind === 'passed' ? [outcome.method, 'GET'] : [];
  const read = readAnswers(received, methods);
  if (received.toString('latin1').includes('SECRET')) wrong.push('the client got back what it had sent');
  if (isWaiting !== (end === 'open')) wrong.push(`the connection ended as ${end}`);

  switch (outcome.kind) {
    case 'refused':
      if (providerBytes > 0) wrong.push(`the provider got ${providerBytes} bytes: ${describe(seen)}`);
      // More than is drained: the reset that tells so may take the refusal with it.
      if (sent.length < DRAINED_BYTES || received.length > 0) wrong.push(...checkRefusal(read, outcome.code));
      break;
    case 'unfinished':
      if (providerBytes > 0) wrong.push(`the provider got ${providerBytes} bytes: ${describe(seen)}`);
      if (read.answers.length > 0 || read.rest !== '') wrong.push(`an answer: ${received.toString('latin1', 0, 300)}`);
      break;
    case 'streamed':
    case 'broken':
      if (seen.length > 0) wrong.push(`the provider got ${describe(seen)}`);
      break;
    case 'passed':
      wrong.push(...checkPassed(seen, outcome), ...checkPassedAnswers(read, outcome.second ? 2 : 1));
      break;
  }
  return wrong;
}

/** Every call is over, and what goes to the provider because of it has gone. */
async function settled(proxy: InProcessProxy): Promise<void> {
  const deadlineMs = performance.now() + 5_000;
  while (proxy.gateway.openCalls.size > 0 && performance.now() < deadlineMs) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

function describe(seen: readonly SeenRequest[]): string {
  return seen.map(({ method, target }) => `${method} ${target.slice(0, 80)}`).join(', ') || 'no whole request';
}

function checkRefusal({ answers, rest }: ReadAnswers, code: string): string[] {
  const wrong: string[] = [];
  const [first] = answers;
  if (answers.length !== 1 || rest !== '')
    wrong.push(`${answers.length} answers and ${JSON.stringify(rest.slice(0, 100))}`);
  if (first?.code !== code)
    wrong.push(`refused with ${first?.code ?? `${first?.status} ${first?.body.slice(0, 100)}`}`);
  if (first !== undefined && !/\r\nConnection: (?:close|Upgrade, close)/i.test(first.head))
    wrong.push('the refusal does not say close');
  return wrong;
}

function checkPassed(
  seen: readonly SeenRequest[],
  outcome: RequestCase['outcome'] & { readonly kind: 'passed' },
): string[] {
  const [first, second, ...more] = seen;
  const wrong: string[] = [];
  if (first?.method !== outcome.method || first.target !== outcome.target)
    wrong.push(`the provider got ${describe(seen)}`);
  else if (first.body.toString('latin1') !== outcome.body)
    wrong.push(`the body ${first.body.toString('latin1', 0, 100)}`);
  if (outcome.second !== (second?.target === SECOND_TARGET)) wrong.push(`behind it: ${describe(seen.slice(1))}`);
  if (more.length > 0) wrong.push(`${more.length} more`);
  return wrong;
}

function checkPassedAnswers({ answers, rest }: ReadAnswers, count: number): string[] {
  const wrong: string[] = [];
  const good = answers.filter(({ status }) => status === 200);
  if (good.length !== count)
    wrong.push(`${good.length} answers: ${answers.map(({ status, code }) => code ?? status).join(', ')}`);
  // Of what could not be read behind a whole request at most a refusal comes.
  if (answers.length > count + 1 || rest !== '')
    wrong.push(`${answers.length} answers and ${JSON.stringify(rest.slice(0, 100))}`);
  return wrong;
}
