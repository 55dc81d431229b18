/**
 * Answers that have broken other gateways, over real sockets: odd framings, odd encodings, bombs, endless events. The
 * client gets every byte; the record has the usage, or says why it has not.
 */
import { brotliCompressSync, crc32, gzipSync, zstdCompressSync } from 'node:zlib';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/proxy/upstream/upstream-limits.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { type AnswerStep, buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';

const { provider, proxy } = await openProxy();

const MESSAGES = '/v1/messages';
const CHAT = '/v1/chat/completions';
const GEMINI = '/v1beta/models/m:streamGenerateContent';
const CONVERSE = '/model/m/converse-stream';

interface Answer {
  readonly type: string;
  readonly body: Buffer | string;
  readonly encoding?: string;
  readonly status?: number;
  readonly cuts?: readonly number[];
}

function requestTo(path: string): string {
  const body = '{"model":"m"}';
  return [
    `POST ${path} HTTP/1.1`,
    'Host: a',
    `X-Gateway-Key: ${proxy.key}`,
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}

/** Makes the call; what comes must be what was sent. */
async function call(path: string, answer: Answer) {
  const { type, body, encoding, status = 200, cuts = [] } = answer;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const encoded = encoding === undefined ? [] : [['Content-Encoding', encoding] as const];
  provider.setAnswer(() =>
    buildAnswer({
      status,
      headers: [['Content-Type', type], ...encoded],
      framing: 'chunked',
      body: bytes,
      cuts,
      ...(cuts.length === 0 ? {} : { delayMs: 2 }),
    }),
  );
  const seen = await readRawAnswer('127.0.0.1', proxy.port, requestTo(path));
  expect(seen.end).toBe('complete');
  expect(seen.body.equals(bytes)).toBe(true);
  const id = seen.rawHeaders[seen.rawHeaders.indexOf('X-Gateway-Request-Id') + 1] ?? '';
  const { end } = await proxy.waitForCall(id);
  const { input, output } = end.usage?.classes ?? {};
  const usage = end.usage === null ? null : [input, output];
  return { usage, source: end.usageSource, flags: end.flags, outcome: end.outcome, errorType: end.errorType, id };
}

const SSE = 'text/event-stream';
const JSON_TYPE = 'application/json';
const START = '{"type":"message_start","message":{"model":"m","usage":{"input_tokens":9,"output_tokens":1}}}';
const DELTA = '{"type":"message_delta","delta":{},"usage":{"output_tokens":16}}';
const STOP = '{"type":"message_stop"}';
const EVENTS = [START, '{"type":"content_block_delta","delta":{"text":"你好🌍"}}', DELTA, STOP];
const STREAM = EVENTS.map((data) => `data: ${data}\n\n`).join('');
const CHAT_JSON = '{"model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":16,"total_tokens":25}}';
const WHOLE = { usage: [9, 16], source: 'provider', flags: [], outcome: 'ok' };

describe('an event stream', () => {
  test.each<[string, string]>([
    ['with CRLF line ends', EVENTS.map((data) => `data: ${data}\r\n\r\n`).join('')],
    ['with CR line ends', EVENTS.map((data) => `data: ${data}\r\r`).join('')],
    ['behind a byte order mark', `\uFEFF${STREAM}`],
    ['without a space after the colon', EVENTS.map((data) => `data:${data}\n\n`).join('')],
    ['without its final blank line', STREAM.slice(0, -2)],
    ['of comments before and between', EVENTS.map((data) => `: OPENROUTER PROCESSING\n\ndata: ${data}\n\n`).join('')],
    ['with ids and retries', EVENTS.map((data, id) => `id: ${id}\nretry: 10\ndata: ${data}\n\n`).join('')],
    ['with each event over several data lines', STREAM.replaceAll('{"type"', '{\ndata: "type"')],
    ['without event lines', STREAM],
    ['with event lines that are wrong', EVENTS.map((data) => `event: message\ndata: ${data}\n\n`).join('')],
    [
      'with an event that a relay has cut and padded',
      STREAM.replace(/data: \{"type":"content.*\n/, `data: {"type":"content_block_delta","de${' '.repeat(99)}\n`),
    ],
  ])('%s passes and is read', async (_, body) => {
    expect(await call(MESSAGES, { type: SSE, body })).toMatchObject(WHOLE);
  });

  test('a stream of text in several bytes a character, cut between each of them, is stored as it was', async () => {
    const bytes = Buffer.from(STREAM);
    const first = bytes.indexOf('你');
    const cuts = Array.from({ length: 10 }, (_, index) => first + index);
    const { id, ...seen } = await call(MESSAGES, { type: SSE, body: bytes, cuts });
    expect(seen).toMatchObject(WHOLE);
    const stored = (await proxy.entries()).flatMap((entry) =>
      entry.type === 'body' && entry.body.id === id && entry.body.direction === 'response' ? [entry.body.bytes] : [],
    );
    expect(stored.map((body) => Buffer.from(body).equals(bytes))).toEqual([true]);
  });

  test('whose event of 40 KB is cut inside a string is read', async () => {
    const long = `data: {"type":"content_block_delta","delta":{"text":"${'y'.repeat(40_000)}"}}\n\n`;
    const body = `data: ${START}\n\n${long}data: ${DELTA}\n\ndata: ${STOP}\n\n`;
    expect(await call(MESSAGES, { type: SSE, body, cuts: [20_000, 39_999] })).toMatchObject(WHOLE);
  });

  test('reaches the client event by event, while the provider waits', async () => {
    const received = EVENTS.map(() => Promise.withResolvers<void>());
    const steps: AnswerStep[] = EVENTS.flatMap((data, index) => {
      const piece = `data: ${data}\n\n`;
      const chunk = `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`;
      // The next event is not sent before the client has this one: a gateway that gathers them would never end.
      return [{ write: Buffer.from(chunk) }, { waitFor: received[index]?.promise ?? Promise.resolve() }];
    });
    const head = `HTTP/1.1 200 OK\r\nContent-Type: ${SSE}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    provider.setAnswer(() => [{ write: head }, ...steps, { write: '0\r\n\r\n' }]);
    let events = 0;
    const seen = await readRawAnswer('127.0.0.1', proxy.port, requestTo(MESSAGES), {
      onBody: () => received[events++]?.resolve(),
    });
    expect(seen.body.toString()).toBe(STREAM);
  });

  test('a stream that is silent for a while gets nothing put into it', async () => {
    const bytes = Buffer.from(STREAM);
    const [head, first, second, ...rest] = buildAnswer({
      headers: [['Content-Type', SSE]],
      framing: 'chunked',
      body: bytes,
      cuts: [80],
    });
    provider.setAnswer(() => [head, first, { waitMs: 700 }, second, ...rest].flatMap((step) => step ?? []));
    const seen = await readRawAnswer('127.0.0.1', proxy.port, requestTo(MESSAGES));
    expect(seen.body.equals(bytes)).toBe(true);
  });

  test('a stream of 3 MB is kept as its head and tail, with its length', async () => {
    const body = `data: ${START}\n\n${`data: {"type":"ping","n":"${'z'.repeat(80)}"}\n\n`.repeat(30_000)}data: ${DELTA}\n\ndata: ${STOP}\n\n`;
    const { id, ...seen } = await call(MESSAGES, { type: SSE, body });
    expect(seen).toMatchObject(WHOLE);
    const [stored] = (await proxy.entries()).flatMap((entry) =>
      entry.type === 'body' && entry.body.id === id && entry.body.direction === 'response' ? [entry.body] : [],
    );
    expect(stored).toMatchObject({ totalBytes: body.length, headBytes: 512 * 1024 });
    expect(stored?.bytes.length).toBe(1024 * 1024);
    expect(
      Buffer.from(stored?.bytes ?? [])
        .toString()
        .endsWith(`${STOP}\n\n`),
    ).toBe(true);
  });
});

describe('a chat stream', () => {
  const usage = '{"prompt_tokens":9,"completion_tokens":16,"total_tokens":25}';
  const finish = (index: number, used: string): string =>
    `data: {"model":"m","choices":[{"index":${index},"delta":{},"finish_reason":"stop"}],"usage":${used}}\n\n`;
  const last = `data: {"model":"m","choices":[],"usage":${usage}}\n\n`;

  test.each<[string, string]>([
    [
      'with two choices that finish, and usage in a chunk of its own',
      `${finish(0, 'null')}${finish(1, 'null')}${last}`,
    ],
    ['with usage in the chunk that finishes', finish(0, usage)],
    ['with usage in both', `${finish(0, '{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}')}${last}`],
    ['with usage in the middle and none behind', `${last}${finish(0, 'null')}`],
  ])('%s is read once', async (_, chunks) => {
    expect(await call(CHAT, { type: SSE, body: `${chunks}data: [DONE]\n\n` })).toMatchObject(WHOLE);
  });

  test('without usage has none, and no guess in its place', async () => {
    const seen = await call(CHAT, { type: SSE, body: `${finish(0, 'null')}data: [DONE]\n\n` });
    expect(seen).toMatchObject({ usage: null, source: 'none', flags: [], outcome: 'ok' });
  });
});

describe('a JSON answer', () => {
  test('behind the blank lines of a queue, in pieces, is read', async () => {
    const body = `${'\n'.repeat(40)}${CHAT_JSON}`;
    expect(await call(CHAT, { type: 'application/json; charset=utf-8', body, cuts: [1, 7, 39, 50] })).toMatchObject(
      WHOLE,
    );
  });

  test('to a request for a stream is read as what it is', async () => {
    const part =
      '{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":16,"totalTokenCount":25}}';
    expect(await call(GEMINI, { type: JSON_TYPE, body: part })).toMatchObject(WHOLE);
    expect(await call(`${GEMINI}?alt=sse`, { type: JSON_TYPE, body: part })).toMatchObject(WHOLE);
  });

  test('an answer that is an error, where frames would come, shows the provider’s error', async () => {
    const body = '{"message":"not authorized"}';
    const seen = await call(CONVERSE, { type: JSON_TYPE, body, status: 403 });
    expect(seen).toMatchObject({ usage: null, source: 'none', flags: [], outcome: 'upstream_error' });
  });
});

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text),
);

function frame(type: string, payload: string): Buffer {
  const text = (value: string) => ({ type: 'string' as const, value });
  const headers = { ':message-type': text('event'), ':event-type': text(type) };
  return Buffer.from(codec.encode({ headers, body: Buffer.from(payload) }));
}

const FRAMES = 'application/vnd.amazon.eventstream';
const ROLE = frame('messageStart', '{"role":"assistant"}');
const METADATA = frame('metadata', '{"usage":{"inputTokens":9,"outputTokens":16,"totalTokens":25}}');

describe('an AWS event stream', () => {
  test('whose frames are cut in their preludes is read', async () => {
    const cuts = [3, 9, ROLE.length - 2, ROLE.length + 5, ROLE.length + 11];
    expect(await call(CONVERSE, { type: FRAMES, body: Buffer.concat([ROLE, METADATA]), cuts })).toMatchObject(WHOLE);
  });

  test('with a flipped bit in its usage passes, and that usage is not believed', async () => {
    const broken = Buffer.from(METADATA);
    broken[broken.length - 10] = (broken[broken.length - 10] ?? 0) ^ 1;
    const seen = await call(CONVERSE, { type: FRAMES, body: Buffer.concat([ROLE, broken]) });
    expect(seen).toMatchObject({ usage: null, source: 'none', flags: ['undecodable'], outcome: 'ok' });
  });

  test('with a frame that claims more than any may have is not gathered', async () => {
    const prelude = Buffer.alloc(12);
    prelude.writeUInt32BE(256 * 1024 * 1024, 0);
    prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
    const body = Buffer.concat([ROLE, prelude, Buffer.alloc(2_000_000)]);
    expect(await call(CONVERSE, { type: FRAMES, body })).toMatchObject({ usage: null, flags: ['undecodable'] });
  });
});

describe('an encoded answer', () => {
  const body = Buffer.from(STREAM);

  test.each<[string, Buffer]>([
    ['gzip', gzipSync(body)],
    ['zstd', zstdCompressSync(body)],
    ['gzip, br', brotliCompressSync(gzipSync(body))],
    ['gzip, zstd, br, gzip', gzipSync(brotliCompressSync(zstdCompressSync(gzipSync(body))))],
  ])('in %s passes encoded and is read', async (encoding, encoded) => {
    expect(await call(MESSAGES, { type: SSE, body: encoded, encoding, cuts: [1, 5, 30] })).toMatchObject(WHOLE);
  });

  test('whose encoding breaks off keeps what was decoded, as partial', async () => {
    const long = Buffer.from(
      `data: ${START}\n\n${Array.from({ length: 3_000 }, (_, n) => `: ${Math.sin(n)}\n\n`).join('')}`,
    );
    const encoded = gzipSync(long);
    const seen = await call(MESSAGES, { type: SSE, body: encoded.subarray(0, encoded.length - 20), encoding: 'gzip' });
    expect(seen).toMatchObject({ usage: [9, undefined], source: 'partial', flags: [], outcome: 'upstream_truncated' });
  });

  test.each<[string, string, Buffer]>([
    ['a gzip bomb', 'gzip', gzipSync(Buffer.alloc(80 * 1024 * 1024))],
    ['a zstd bomb', 'zstd', zstdCompressSync(Buffer.alloc(32 * 1024 * 1024))],
    ['a bomb in a bomb', 'gzip, gzip', gzipSync(gzipSync(Buffer.alloc(32 * 1024 * 1024)))],
  ])('that is %s passes as it is, and its reading is given up', async (_, encoding, encoded) => {
    expect(await call(MESSAGES, { type: SSE, body: encoded, encoding })).toMatchObject({
      usage: null,
      flags: ['tap_limit'],
    });
    expect(await call(CHAT, { type: JSON_TYPE, body: encoded, encoding })).toMatchObject({
      usage: null,
      flags: ['tap_limit'],
    });
  });

  test.each<[string, string]>([
    ['of five encodings', 'gzip, gzip, gzip, gzip, gzip'],
    ['that is none at all', 'gzip'],
    ['of an unknown name', 'magic'],
  ])('%s passes as it is, and is said not to be decodable', async (_, encoding) => {
    expect(await call(MESSAGES, { type: SSE, body, encoding })).toMatchObject({ usage: null, flags: ['undecodable'] });
  });
});

describe('what is larger than the reader holds', () => {
  const filler = 'x '.repeat(2.5 * 1024 * 1024);

  test('an event passes, and its usage and that behind it are read', async () => {
    const body = `data: ${START}\n\ndata: {"type":"content_block_delta","x":"${filler}"}\n\ndata: {"x":"${filler}",${DELTA.slice(1)}\n\ndata: ${STOP}\n\n`;
    expect(await call(MESSAGES, { type: SSE, body })).toMatchObject({ ...WHOLE, flags: [] });
  });

  test('an event that is no JSON passes, is remarked, and the usage behind it is read', async () => {
    const body = `data: ${START}\n\ndata: ${filler}\n\ndata: ${DELTA}\n\ndata: ${STOP}\n\n`;
    expect(await call(MESSAGES, { type: SSE, body })).toMatchObject({ ...WHOLE, flags: ['tap_limit'] });
  });

  test('an event without an end passes, and the usage before it is kept', async () => {
    const seen = await call(MESSAGES, { type: SSE, body: `data: ${START}\n\ndata: ${filler}` });
    expect(seen).toMatchObject({ usage: [9, undefined], source: 'partial', flags: ['tap_limit'], outcome: 'ok' });
  });

  test('an element of an array passes, and the usage in it and behind it is read', async () => {
    const last =
      '{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":16,"totalTokenCount":25}}';
    for (const body of [`[{"x":"${filler}"},\n${last}]`, `[{"x":"${filler}",${last.slice(1)}]`])
      expect(await call(GEMINI, { type: JSON_TYPE, body })).toMatchObject({ ...WHOLE, flags: [] });
  });

  test('a JSON body passes, and the usage behind it is read', async () => {
    const body = `{"x":"${filler}${filler}",${CHAT_JSON.slice(1)}`;
    expect(await call(CHAT, { type: JSON_TYPE, body })).toMatchObject({ usage: [9, 16], flags: [], outcome: 'ok' });
  });
});

test('models that think for half an hour before their head, and streams silent for ten minutes, are within the limits', () => {
  expect(DEFAULT_LIMITS.headersTimeoutMs).toBeGreaterThan(30 * 60_000);
  expect(DEFAULT_LIMITS.idleTimeoutMs).toBeGreaterThan(10 * 60_000);
});
