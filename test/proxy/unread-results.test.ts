/** A finished result that was fetched and could not be read is not known to be free; a later one that can be counts. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPriceBook } from '../../src/pricing/price-book.ts';
import { toBillableCall } from '../../src/pricing/to-billable-call.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { type Fixture, listFixtures } from '../support/fixtures.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { type AnswerOptions, buildAnswer } from '../support/scripted-answer.ts';
import { type InProcessProxy, type RecordedCall, startProxy } from './start-proxy.ts';

const { priceCall } = createPriceBook();

let provider: ScriptedProvider;
let proxy: InProcessProxy;
beforeAll(async () => {
  provider = await startScriptedProvider();
  proxy = await startProxy(provider.origin);
});
afterAll(async () => {
  await proxy.close();
  await provider.close();
});

function find(name: string): Fixture {
  const fixture = listFixtures().find((candidate) => candidate.name === name);
  if (fixture === undefined) throw new Error(`no fixture ${name}`);
  return fixture;
}

async function fetchResult(fixture: Fixture, answer: AnswerOptions): Promise<RecordedCall> {
  provider.setAnswer(() => buildAnswer(answer));
  const { method, path } = fixture.request;
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: a', `X-Gateway-Key: ${proxy.key}`];
  const request = [...lines, `X-Gateway-Provider: ${fixture.provider}`, 'Connection: close', '', ''].join('\r\n');
  const { rawHeaders } = await readRawAnswer('127.0.0.1', proxy.port, Buffer.from(request));
  return proxy.waitForCall(rawHeaders[rawHeaders.indexOf('X-Gateway-Request-Id') + 1] ?? '');
}

function asTyped(type: string | null, more: AnswerOptions): AnswerOptions {
  return { ...more, headers: [...(type === null ? [] : [['Content-Type', type] as const]), ...(more.headers ?? [])] };
}

const RESULTS = [
  ['a background response', find('responses-background-fetched'), 'application/json'],
  ['the same as a stream', find('responses-background-replay'), 'text/event-stream'],
  ['a batch of OpenAI’s', find('batch-fetched'), 'application/json'],
  ['the results of a batch', find('batch-results'), 'application/x-jsonl'],
  ['an interaction', find('interactions-get-background'), 'application/json'],
  ['a batch of Google’s', find('batch-get'), 'application/json'],
  ['a file of results', find('batch-file'), 'application/octet-stream'],
  ['a video', find('video-get-background'), 'application/json'],
] as const;

/** Beyond what is decoded of any answer. */
const BOMB = gzipSync(Buffer.alloc(70 * 1024 * 1024, ' '));

describe.each(RESULTS)('%s', (_, fixture, type) => {
  const { body } = fixture;
  const half = Math.floor(body.length / 2);

  test.each<[string, AnswerOptions]>([
    ['in a coding that is not known', asTyped(type, { body, headers: [['Content-Encoding', 'xz']] })],
    ['in five codings', asTyped(type, { body, headers: [['Content-Encoding', 'br, br, br, br, br']] })],
    ['as gzip that is none', asTyped(type, { body, headers: [['Content-Encoding', 'gzip']] })],
    [
      'as gzip that breaks off',
      asTyped(type, { body: gzipSync(body).subarray(0, 40), headers: [['Content-Encoding', 'gzip']] }),
    ],
    ['larger than what is decoded', asTyped(type, { body: BOMB, headers: [['Content-Encoding', 'gzip']] })],
    ['as a page', asTyped('text/html', { body: '<html><body>Sign in</body></html>' })],
    ['as a page that says it is a result', asTyped(type, { body: '<html><body>Sign in</body></html>' })],
    ['as a document', asTyped('application/pdf', { body: '%PDF-1.7' })],
    ['without a byte', asTyped(type, { body: '' })],
    ['of blank lines', asTyped(type, { body: '\n\n\n' })],
    ['in part, by a range', asTyped(type, { status: 206, body })],
    ['in half, with a clean end', asTyped(type, { body: body.subarray(0, half) })],
    [
      'in half, with a broken connection',
      asTyped(type, { body, framing: 'chunked', cuts: [half], delayMs: 5, resetAt: { bodyWrites: 1 } }),
    ],
  ])('%s is not known, and not free', async (_way, answer) => {
    const { begin, end } = await fetchResult(fixture, answer);
    expect(end).toMatchObject({ usage: null, usageSource: 'none' });
    expect(end.flags).toContain('result_unread');
    expect(end).not.toHaveProperty('billedOnceAs');
    expect(priceCall(toBillableCall(begin, end))).toMatchObject({ costStatus: 'partial', totalCost: null });
  });

  test('a result that can be read is counted, whatever came before', async () => {
    const { end } = await fetchResult(fixture, asTyped(type, { body }));
    expect(end.flags).not.toContain('result_unread');
    expect(end.billedOnceAs).toBeDefined();
  });

  test('a result that is not there, or has not changed, is not billed', async () => {
    for (const status of [204, 304, 404, 500]) {
      const { begin, end } = await fetchResult(fixture, { status, headers: [['Content-Type', 'application/json']] });
      expect([status, end.flags.includes('result_unread')]).toEqual([status, false]);
      expect(priceCall(toBillableCall(begin, end)).costStatus).toBe('not_billed');
    }
  });
});

test('a result that is not finished is read, and free', async () => {
  for (const name of ['responses-background-running', 'batch-cancelling', 'responses-background-cancelled']) {
    const fixture = find(name);
    const { begin, end } = await fetchResult(fixture, asTyped('application/json', { body: fixture.body }));
    expect([name, end.flags]).toEqual([name, []]);
    expect(priceCall(toBillableCall(begin, end)).costStatus).toBe('not_billed');
  }
});

/** Finished results by what they say, and whether a usage is missing in it. */
const SILENT = [
  ['batch-fetched', { id: 'batch_1', object: 'batch', status: 'completed', request_counts: { completed: 2 } }, true],
  ['batch-fetched', { id: 'batch_1', object: 'batch', status: 'failed', request_counts: { completed: 0 } }, false],
  ['responses-background-fetched', { id: 'resp_1', background: true, status: 'completed' }, true],
  ['responses-background-fetched', { id: 'resp_1', background: true, status: 'incomplete' }, true],
  ['responses-background-fetched', { id: 'resp_1', background: true, status: 'failed' }, false],
  ['interactions-get-background', { id: 'v1_1', status: 'completed' }, true],
  ['interactions-get-background', { id: 'v1_1', status: 'cancelled' }, false],
  ['video-get-background', { id: 'v_1', status: 'completed' }, true],
  ['video-get-background', { id: 'v_1', status: 'failed' }, false],
  ['batch-get', { name: 'batches/b1', done: true, metadata: { state: 'BATCH_STATE_SUCCEEDED' } }, true],
  [
    'batch-get',
    { name: 'batches/b1', done: true, response: { inlinedResponses: { inlinedResponses: [{ response: {} }] } } },
    true,
  ],
  [
    'batch-get',
    { name: 'batches/b1', done: true, response: { inlinedResponses: { inlinedResponses: [{ error: {} }] } } },
    false,
  ],
  ['batch-file', { key: '1', response: { candidates: [] } }, true],
  ['batch-results', { custom_id: '1', result: { type: 'succeeded', message: { id: 'msg_1', content: [] } } }, true],
  ['batch-results', { custom_id: '1', result: { type: 'errored', error: {} } }, false],
] as const;

test.each(SILENT)('%s without usage, %j, lacks it: %s', async (name, body, lacks) => {
  const type = name === 'batch-results' ? 'application/x-jsonl' : 'application/json';
  const answer = asTyped(name === 'batch-file' ? null : type, { body: `${JSON.stringify(body)}\n` });
  const { begin, end } = await fetchResult(find(name), answer);
  expect([end.usage, end.flags, end.billedOnceAs]).toEqual([null, lacks ? ['result_unread'] : [], undefined]);
  const { costStatus } = priceCall(toBillableCall(begin, end));
  expect(costStatus).toBe(lacks ? 'partial' : 'not_billed');
});

test('a batch of which one answer lacks its usage is counted, and not known whole', async () => {
  const lines = [
    '{"custom_id":"1","result":{"type":"succeeded","message":{"id":"msg_1","model":"claude-haiku-4-5","content":[]}}}',
    '{"custom_id":"2","result":{"type":"succeeded","message":{"id":"msg_2","model":"claude-haiku-4-5","content":[],"usage":{"input_tokens":1000,"output_tokens":200}}}}',
  ];
  const answer = asTyped('application/x-jsonl', { body: `${lines.join('\n')}\n` });
  const { begin, end } = await fetchResult(find('batch-results'), answer);
  expect(end.usage).toMatchObject({ classes: { input: 1000, output: 200 }, isIncomplete: true });
  expect(end.billedOnceAs).toBeDefined();
  expect(priceCall(toBillableCall(begin, end)).costStatus).toBe('partial');
});

test('a film that is downloaded is no result with usage in it', async () => {
  const { begin, end } = await fetchResult(find('batch-file'), asTyped('video/mp4', { body: 'ftypmp42' }));
  expect(end.flags).toEqual([]);
  expect(priceCall(toBillableCall(begin, end)).costStatus).toBe('not_billed');
});
