import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import {
  type ScriptedProvider,
  type ScriptedProviderOptions,
  startScriptedProvider,
} from '../support/fake-provider.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';

const started: ScriptedProvider[] = [];

async function start(options: ScriptedProviderOptions = {}): Promise<ScriptedProvider> {
  const provider = await startScriptedProvider(options);
  started.push(provider);
  return provider;
}

afterEach(async () => {
  for (const provider of started.splice(0)) await provider.close();
});

const GET = 'GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n';

test('a request is recorded with its case, order, duplicates and Latin-1 bytes', async () => {
  const provider = await start();
  const head = 'POST /v1/a%2Fb?q=%20 HTTP/1.1\r\nHOST: x\r\nx-B: 1\r\nX-b: caf\u00e9\r\nContent-Length: 5\r\n\r\n';
  const answer = await readRawAnswer('127.0.0.1', provider.port, `${head}hello`);
  const request = await provider.waitForRequest(0);
  expect(request.headBytes.toString('latin1')).toBe(head);
  expect(request.rawHeaders).toEqual(['HOST', 'x', 'x-B', '1', 'X-b', 'caf\u00e9', 'Content-Length', '5']);
  expect([request.method, request.target, request.header('x-b')]).toEqual(['POST', '/v1/a%2Fb?q=%20', '1']);
  expect(request.body().toString()).toBe('hello');
  expect([answer.end, answer.status, answer.body.toString()]).toEqual(['complete', 200, '{}']);
});

test('a chunked request is kept both as framed and without its framing, with extensions and trailers', async () => {
  const provider = await start();
  const body = '3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 9\r\n\r\n';
  await readRawAnswer('127.0.0.1', provider.port, `POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n${body}`);
  const request = await provider.waitForRequest(0);
  expect(request.body().toString()).toBe('abcde');
  expect(request.framedBody().toString()).toBe(body);
  expect(request.trailers()).toEqual(['X-Sum', '9']);
});

test('an answer arrives byte for byte: odd case, reason phrase, duplicates, Latin-1, extensions, trailers, 1xx', async () => {
  const head =
    'HTTP/1.1 200 Fine Thanks\r\nx-Odd: caf\u00e9\r\nX-ODD: 2\r\nTrailer: X-End\r\nTransfer-Encoding: chunked\r\n\r\n';
  const early = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
  const provider = await start({
    answer: () =>
      buildAnswer({
        reason: 'Fine Thanks',
        headers: [
          ['x-Odd', 'caf\u00e9'],
          ['X-ODD', '2'],
        ],
        body: 'hello',
        framing: 'chunked',
        cuts: [2],
        chunkExtension: ';n=v',
        trailers: [['X-End', 'done']],
        informational: [early],
      }),
  });
  const answer = await readRawAnswer('127.0.0.1', provider.port, GET);
  expect(answer.head.toString('latin1')).toBe(head);
  expect(answer.informational.map(String)).toEqual([early]);
  expect(answer.framedBody.toString()).toBe('2;n=v\r\nhe\r\n3;n=v\r\nllo\r\n0\r\nX-End: done\r\n\r\n');
  expect(answer.body.toString()).toBe('hello');
  expect(answer.trailers).toEqual(['X-End', 'done']);
  expect(answer.end).toBe('complete');
});

test('an answer can be reset before its head, after its head, and within its body', async () => {
  const stages = ['before-headers', 'after-headers', { bodyWrites: 1 }] as const;
  const provider = await start({
    answer: (_, index) => buildAnswer({ body: 'abcdef', cuts: [3], resetAt: stages[index] ?? 'before-headers' }),
  });
  const ends = [];
  for (let i = 0; i < 3; i++) {
    const answer = await readRawAnswer('127.0.0.1', provider.port, GET);
    ends.push([answer.end, answer.status, answer.body.toString()]);
  }
  expect(ends).toEqual([
    ['reset', 0, ''],
    ['reset', 200, ''],
    ['reset', 200, 'abc'],
  ]);
});

test('a clean end before the promised length is a cut, and the end of the connection completes a body without one', async () => {
  const provider = await start({
    answer: (_, index) =>
      index === 0
        ? [{ write: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc' }, { end: true }]
        : buildAnswer({ body: 'abc', framing: 'close' }),
  });
  expect((await readRawAnswer('127.0.0.1', provider.port, GET)).end).toBe('cut');
  expect((await readRawAnswer('127.0.0.1', provider.port, GET)).end).toBe('complete');
});

test('an encoded answer carries its encoding and the encoded bytes', async () => {
  const provider = await start({ answer: () => buildAnswer({ body: 'squeeze', encoding: 'gzip', cuts: [5] }) });
  const answer = await readRawAnswer('127.0.0.1', provider.port, GET);
  expect(answer.rawHeaders).toContain('gzip');
  expect(gunzipSync(answer.body).toString()).toBe('squeeze');
});

test('pipelined requests of one connection are answered in order, and executed calls are counted by id', async () => {
  const provider = await start({
    answer: (request, index) => buildAnswer({ body: request.target, ...(index === 0 ? { delayMs: 5 } : {}) }),
  });
  const call = (path: string, id: string) => `GET ${path} HTTP/1.1\r\nx-call-id: ${id}\r\n\r\n`;
  const answer = await readRawAnswer('127.0.0.1', provider.port, call('/1', 'a') + call('/2', 'b'));
  expect(answer.body.toString()).toBe('/1');
  await readRawAnswer('127.0.0.1', provider.port, call('/3', 'a'));
  expect([...provider.ledger]).toEqual([
    ['a', 2],
    ['b', 1],
  ]);
  expect(provider.requests.map(({ target, connection }) => [target, connection])).toEqual([
    ['/1', 0],
    ['/2', 0],
    ['/3', 1],
  ]);
});

test('a client that goes away is seen, and an answer to the head alone does not wait for the body', async () => {
  const provider = await start({
    answerHead: (request) => (request.method === 'POST' ? buildAnswer({ status: 413, reason: 'Too Large' }) : null),
    answer: () => [{ write: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc' }],
  });
  const refused = await readRawAnswer('127.0.0.1', provider.port, 'POST / HTTP/1.1\r\ncontent-length: 1000\r\n\r\nab');
  expect(refused.statusLine).toBe('HTTP/1.1 413 Too Large');
  expect(provider.requests[0]?.isWhole()).toBe(false);
  const left = await readRawAnswer('127.0.0.1', provider.port, GET, { onBody: (_, abort) => abort() });
  expect(left.end).toBe('cut');
  await (await provider.waitForRequest(1)).closed;
});

test('a body cut anywhere by the network reads the same', async () => {
  const framed = '3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nX: 1\r\n\r\n';
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const whole = head + framed;
  const provider = await start({
    answer: (_, index) => [{ write: whole.slice(0, index + 1) }, { waitMs: 1 }, { write: whole.slice(index + 1) }],
  });
  for (let cut = 1; cut < whole.length; cut++) {
    const answer = await readRawAnswer('127.0.0.1', provider.port, GET);
    expect([answer.end, answer.head.toString(), answer.framedBody.toString(), answer.body.toString()]).toEqual([
      'complete',
      head,
      framed,
      'abcde',
    ]);
  }
});
