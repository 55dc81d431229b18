/** Results that are made later: what the record says of the call that asks for one, and of those that fetch it. */
import { expect, test } from 'vitest';
import { listFixtures, requestBody } from '../support/fixtures.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';

const FIXTURES = listFixtures().filter((fixture) => fixture.provider === 'openai');

const { provider, proxy } = await openProxy();

async function recordOf(name: string, change: (body: string) => string = (body) => body) {
  const fixture = FIXTURES.find((candidate) => candidate.name === name);
  if (fixture === undefined) throw new Error(`no fixture ${name}`);
  const { status, headers, request } = fixture;
  const body = Buffer.from(change(fixture.body.toString()));
  provider.setAnswer(() => buildAnswer({ status, headers: Object.entries(headers), framing: 'chunked', body }));
  const sent = requestBody(fixture);
  const lines = [
    `${request.method} ${request.path} HTTP/1.1`,
    'Host: gateway',
    `X-Gateway-Key: ${proxy.key}`,
    ...(sent.length === 0 ? [] : ['Content-Type: application/json', `Content-Length: ${sent.length}`]),
    'Connection: close',
    '',
    '',
  ];
  await readRawAnswer('127.0.0.1', proxy.port, Buffer.concat([Buffer.from(lines.join('\r\n')), sent]));
  const { begin, end } = await proxy.lastCall();
  return {
    billed: begin.billed,
    isBatch: begin.isBatch,
    source: end.usageSource,
    output: end.usage?.classes.output ?? null,
    once: end.billedOnceAs ?? null,
    flags: end.flags,
  };
}

const NOTHING = { source: 'none', output: null, once: null };

test.each<[string, string, object]>([
  [
    'the call that asks for a background response',
    'responses-background-created',
    { billed: true, isBatch: false, ...NOTHING, flags: ['usage_later'] },
  ],
  [
    'one that streams it and breaks off',
    'responses-background-cut',
    { billed: true, isBatch: false, ...NOTHING, flags: ['usage_later'] },
  ],
  [
    'one that streams it to its end',
    'responses-background-stream',
    { billed: true, isBatch: false, source: 'provider', output: 90, once: 'resp_bg0003', flags: [] },
  ],
  [
    'a look at one that is not done',
    'responses-background-running',
    { billed: false, isBatch: false, ...NOTHING, flags: [] },
  ],
  [
    'fetching one that is done',
    'responses-background-fetched',
    { billed: false, isBatch: false, source: 'provider', output: 90, once: 'resp_bg0001', flags: [] },
  ],
  [
    'fetching it as a stream',
    'responses-background-replay',
    { billed: false, isBatch: false, source: 'provider', output: 90, once: 'resp_bg0003', flags: [] },
  ],
  [
    'fetching a response that was billed when it was made',
    'responses-fetched-again',
    { billed: false, isBatch: false, ...NOTHING, flags: [] },
  ],
  [
    'stopping one that used nothing yet',
    'responses-background-cancelled',
    { billed: false, isBatch: false, ...NOTHING, flags: [] },
  ],
  [
    'the call that asks for a batch',
    'batch-created',
    { billed: true, isBatch: true, ...NOTHING, flags: ['usage_later'] },
  ],
  [
    'stopping a batch that is still at work',
    'batch-cancelling',
    { billed: false, isBatch: true, ...NOTHING, flags: [] },
  ],
  [
    'fetching a batch that is done',
    'batch-fetched',
    { billed: false, isBatch: true, source: 'provider', output: 700, once: 'batch_demo1', flags: [] },
  ],
])('%s', async (_, name, expected) => {
  expect(await recordOf(name)).toEqual(expected);
});

test('a batch that is called finished before its usage was summed up is counted when it is', async () => {
  const withoutSum = await recordOf('batch-fetched', (body) => body.replaceAll(/("\w*_tokens"):\s*\d+/g, '$1:0'));
  // Not known, until somebody asks again: whoever does not has not had it for nothing.
  expect(withoutSum).toMatchObject({ ...NOTHING, flags: ['result_unread'] });
  const summed = await recordOf('batch-fetched');
  expect(summed.once).not.toBeNull();
  expect(summed.source).toBe('provider');
});
