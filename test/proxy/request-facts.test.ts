/** What the record knows of a request's body, whatever its encoding, framing and size; the provider gets it unchanged. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

const JSON_BODY = Buffer.from('{"messages":[{"role":"user","content":"Hi"}],"model":"gpt-x","stream":true}');

let provider: ScriptedProvider;
let proxy: InProcessProxy;

beforeAll(async () => {
  provider = await startScriptedProvider({
    answer: () => buildAnswer({ headers: [['Content-Type', 'application/json']], body: '{}' }),
  });
  proxy = await startProxy(provider.origin);
});
afterAll(async () => {
  await proxy.close();
  await provider.close();
});

async function send(path: string, headers: readonly string[], body: Buffer, framing: 'length' | 'chunked' = 'length') {
  const seen = provider.requests.length;
  const length = framing === 'length' ? `Content-Length: ${body.length}` : 'Transfer-Encoding: chunked';
  const head = [`POST ${path} HTTP/1.1`, 'Host: a', `X-Gateway-Key: ${proxy.key}`, length, ...headers, '', ''];
  const middle = Math.floor(body.length / 3);
  const framed =
    framing === 'length' ? [body] : [body.subarray(0, middle), body.subarray(middle)].flatMap((piece) => chunk(piece));
  const answer = await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    Buffer.concat([Buffer.from(head.join('\r\n')), ...framed, Buffer.from(framing === 'length' ? '' : '0\r\n\r\n')]),
  );
  expect(answer.status).toBe(200);
  const request = await provider.waitForRequest(seen);
  expect(request.body().equals(body)).toBe(true);
  const id = answer.rawHeaders[answer.rawHeaders.indexOf('X-Gateway-Request-Id') + 1] ?? '';
  const { end } = await proxy.waitForCall(id);
  return { model: end.modelRequested, streamed: end.streamed, flags: end.flags };
}

function chunk(piece: Buffer): Buffer[] {
  return [Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')];
}

test.each(['length', 'chunked'] as const)(
  'a body too large to be held (%s) passes whole, and its model is known',
  async (framing) => {
    const body = Buffer.from(`{"model":"gpt-x","stream":false,"input":"${'0123456789abcdef'.repeat(60_000)}"}`);
    expect(await send('/v1/messages', [], body, framing)).toEqual({ model: 'gpt-x', streamed: false, flags: [] });
  },
);

describe('the model of an encoded request is known at its end', () => {
  test.each([
    ['gzip', gzipSync(JSON_BODY)],
    ['x-gzip', gzipSync(JSON_BODY)],
    ['deflate', deflateSync(JSON_BODY)],
    ['deflate', deflateRawSync(JSON_BODY)],
    ['br', brotliCompressSync(JSON_BODY)],
    ['zstd', zstdCompressSync(JSON_BODY)],
    ['gzip, br', brotliCompressSync(gzipSync(JSON_BODY))],
  ])('%s', async (encoding, body) => {
    const facts = { model: 'gpt-x', streamed: true };
    expect(await send('/v1/messages', [`Content-Encoding: ${encoding}`], body)).toEqual({ ...facts, flags: [] });
  });

  test('a chunked one too; what is no stream is not said to lack usage', async () => {
    const body = gzipSync('{"model":"gpt-x","stream":false}');
    const facts = await send('/v1/chat/completions', ['Content-Encoding: gzip'], body, 'chunked');
    expect(facts).toEqual({ model: 'gpt-x', streamed: false, flags: [] });
    const silent = gzipSync('{"model":"gpt-x"}');
    expect((await send('/v1/chat/completions', ['Content-Encoding: gzip'], silent)).flags).toEqual(['usage_not_asked']);
  });

  test.each([
    ['gzip', Buffer.from('this is not gzip')],
    ['magic', JSON_BODY],
    ['gzip, gzip, gzip, gzip, gzip', JSON_BODY],
    ['zstd', zstdCompressSync(Buffer.alloc(64 * 1024 * 1024))],
  ])('one that says %s and cannot be read passes, and is not guessed at', async (encoding, body) => {
    const facts = await send('/v1/messages', [`Content-Encoding: ${encoding}`], body);
    expect(facts).toEqual({ model: null, streamed: null, flags: [] });
  });

  test('one of which only the head is kept is read from its head', async () => {
    const noise = Array.from({ length: 400_000 }, (_, index) => Math.sin(index).toString(36)).join('');
    const body = gzipSync(`{"model":"gpt-x","input":"${noise}"}`);
    expect(body.length).toBeGreaterThan(1024 * 1024);
    const facts = await send('/v1/embeddings', ['Content-Encoding: gzip'], body);
    expect(facts.model).toBe('gpt-x');
  });
});

/** A form with a file of so many bytes, which holds bytes that look like the boundary. */
function form(fileBytes: number, order: 'file-first' | 'file-last'): Buffer {
  const field = (name: string, value: string): string =>
    `--b0\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const fields = Buffer.from(field('model', 'whisper-1') + field('stream', 'True'));
  const file = Buffer.concat([
    Buffer.from('--b0\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'),
    Buffer.alloc(fileBytes, '\r\n--b0x\r\n--b'),
    Buffer.from('\r\n'),
  ]);
  const parts = order === 'file-first' ? [file, fields] : [fields, file];
  return Buffer.concat([...parts, Buffer.from('--b0--\r\n')]);
}

describe('the model of a form is known', () => {
  test.each([
    ['small, in front', 1_000, 'file-last', 'length'],
    ['small, behind the file', 1_000, 'file-first', 'length'],
    ['large, in front', 3_000_000, 'file-last', 'length'],
    ['large, behind the file', 3_000_000, 'file-first', 'length'],
    ['large, in chunks, in front', 3_000_000, 'file-last', 'chunked'],
    ['large, in chunks, behind the file', 3_000_000, 'file-first', 'chunked'],
  ] as const)('%s', async (_, fileBytes, order, framing) => {
    const type = order === 'file-first' ? 'boundary="b0"' : 'boundary=b0; charset=utf-8';
    const body = form(fileBytes, order);
    const facts = await send('/v1/audio/transcriptions', [`Content-Type: multipart/form-data; ${type}`], body, framing);
    expect(facts).toEqual({ model: 'whisper-1', streamed: true, flags: [] });
  });

  test('unless it names none, or names no boundary', async () => {
    const body = form(1_000, 'file-first');
    const unknown = { model: null, streamed: null, flags: [] };
    expect(await send('/v1/audio/transcriptions', ['Content-Type: multipart/form-data; boundary=other'], body)).toEqual(
      unknown,
    );
    expect(await send('/v1/audio/transcriptions', ['Content-Type: multipart/form-data'], body)).toEqual(unknown);
  });
});

describe('the model of a large JSON body', () => {
  const filler = 'x'.repeat(2_000_000);

  test.each([
    ['in front', `{"model":"m","stream":true,"input":"${filler}"}`],
    ['behind a long text', `{"input":"${filler}","model":"m","stream":true}`],
  ])('is known when it stands %s', async (_, body) => {
    expect(await send('/v1/messages', [], Buffer.from(body))).toMatchObject({ model: 'm', streamed: true });
  });

  test('is not taken from inside it, where what was kept does not show how deep it stands', async () => {
    const blank = ' '.repeat(1_000_000);
    const below = `{"input":"Hi",${blank}"metadata":{${blank}"model":"wrong"}}`;
    expect((await send('/v1/messages', [], Buffer.from(below))).model).toBeNull();
    const known = `{"model":"right",${blank}"metadata":{${blank}"model":"wrong"}}`;
    expect((await send('/v1/messages', [], Buffer.from(known))).model).toBe('right');
  });
});

test.each([
  ['fw_abc', '/inference/v1/chat/completions', 'priority'],
  ['sk-proj-abc', '/v1/chat/completions', null],
])(
  'of %s at %s the tier is %s: only Fireworks bills what was asked for and does not say it',
  async (key, path, tier) => {
    const body = Buffer.from('{"service_tier":"priority","model":"gpt-x","messages":[]}');
    const head = [`POST ${path} HTTP/1.1`, 'Host: a', `X-Gateway-Key: ${proxy.key}`, `Authorization: Bearer ${key}`];
    const rest = ['Content-Type: application/json', `Content-Length: ${body.length}`, '', ''];
    const request = Buffer.concat([Buffer.from([...head, ...rest].join('\r\n')), body]);
    const answer = await readRawAnswer('127.0.0.1', proxy.port, request);
    const id = answer.rawHeaders[answer.rawHeaders.indexOf('X-Gateway-Request-Id') + 1] ?? '';
    expect((await proxy.waitForCall(id)).end.serviceTier).toBe(tier);
  },
);
