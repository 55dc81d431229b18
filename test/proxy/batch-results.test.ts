/** The records of results that are fetched: whole, in part, and of a batch that was only asked for. */
import { expect, test } from 'vitest';
import { listFixtures } from '../support/fixtures.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { type AnswerOptions, buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';

const { provider, proxy } = await openProxy();

async function fetchResults(answer: AnswerOptions) {
  provider.setAnswer(() => buildAnswer({ headers: [['Content-Type', 'application/x-jsonl']], ...answer }));
  const request = `GET /v1/messages/batches/msgbatch_demo01/results HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\nX-Gateway-Provider: anthropic\r\nConnection: close\r\n\r\n`;
  const { rawHeaders, end } = await readRawAnswer('127.0.0.1', proxy.port, Buffer.from(request));
  const record = await proxy.waitForCall(rawHeaders[rawHeaders.indexOf('X-Gateway-Request-Id') + 1] ?? '');
  return { ending: end, ...record };
}

test('results that came whole carry their usage, and the id under which it is billed once', async () => {
  const fixture = listFixtures().find(({ name }) => name === 'batch-results');
  const { begin, end } = await fetchResults({ body: fixture?.body ?? '' });
  expect(begin).toMatchObject({ endpoint: 'messages.batches', billed: false, isBatch: true });
  expect(end).toMatchObject({ billedOnceAs: 'msgbatch_demo01', usageSource: 'provider', serviceTier: 'batch' });
  expect(end.usage?.classes).toEqual(fixture?.expected.reported.classes);
  expect(end.usage?.others).toEqual(fixture?.expected.reported.others);
});

test('a part of the results is not taken for the whole: it has no usage, and the next fetch counts', async () => {
  const fixture = listFixtures().find(({ name }) => name === 'batch-results');
  const body = fixture?.body ?? Buffer.alloc(0);
  const { ending, end } = await fetchResults({
    body,
    framing: 'chunked',
    cuts: [body.indexOf('\n') + 1],
    delayMs: 5,
    resetAt: { bodyWrites: 1 },
  });
  expect(ending).not.toBe('complete');
  expect(end).toMatchObject({ outcome: 'upstream_truncated', usage: null, usageSource: 'none' });
  expect(end).not.toHaveProperty('billedOnceAs');
});

test('a range of the results is a part, too', async () => {
  const fixture = listFixtures().find(({ name }) => name === 'batch-results');
  const body = fixture?.body ?? Buffer.alloc(0);
  const { end } = await fetchResults({ status: 206, body: body.subarray(0, body.indexOf('\n') + 1) });
  expect(end).toMatchObject({ outcome: 'ok', status: 206, usage: null, usageSource: 'none' });
  expect(end).not.toHaveProperty('billedOnceAs');
});

test('results that are not there yet are an error without usage', async () => {
  const { end } = await fetchResults({
    status: 404,
    headers: [['Content-Type', 'application/json']],
    body: '{"type":"error","error":{"type":"not_found_error","message":"Batch has no results yet."}}',
  });
  expect(end).toMatchObject({ status: 404, usage: null, errorType: 'not_found_error' });
  expect(end).not.toHaveProperty('billedOnceAs');
});
