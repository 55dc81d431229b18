/** What is billed by the request: characters to be spoken, pictures of a size and quality. And when that is not known. */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';

const SOUND = Buffer.from([0xff, 0xfb, 0x90, 0x64, 0, 1, 2, 3]);
const SPEECH = { model: 'tts-1', voice: 'alloy', input: 'Zoll 🛂\n' };

const { provider, proxy } = await openProxy();

interface Exchange {
  readonly path?: string;
  readonly body?: Buffer;
  readonly sentType?: string;
  readonly headers?: readonly string[];
  readonly status?: number;
  readonly type?: string;
  readonly answer?: Buffer;
  readonly isCut?: true;
}

async function usageOf(exchange: Exchange) {
  const { path = '/v1/audio/speech', body = Buffer.from(JSON.stringify(SPEECH)), headers = [] } = exchange;
  const { status = 200, type = 'audio/mpeg', answer = SOUND } = exchange;
  provider.setAnswer(() =>
    buildAnswer({
      status,
      headers: [['Content-Type', type]],
      framing: 'chunked',
      body: answer,
      ...(exchange.isCut === true ? { cuts: [4], resetAt: { bodyWrites: 1 } } : {}),
    }),
  );
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: gateway',
    `X-Gateway-Key: ${proxy.key}`,
    `Content-Type: ${exchange.sentType ?? 'application/json'}`,
    `Content-Length: ${body.length}`,
    'Connection: close',
    ...headers,
    '',
    '',
  ];
  await readRawAnswer('127.0.0.1', proxy.port, Buffer.concat([Buffer.from(lines.join('\r\n')), body]));
  return (await proxy.lastCall()).end;
}

async function countedOf(exchange: Exchange) {
  const { usageSource, usage } = await usageOf(exchange);
  return [usageSource, usage?.classes ?? null];
}

const json = (text: string) => Buffer.from(text);

test.each<[string, Exchange, string, object | null]>([
  ['sound: the characters of the text, each once', {}, 'request', { input_characters: 7 }],
  [
    'escapes are one character, white space counts',
    { body: json('{"input": "\\u00e9\\ud83d\\udec2 \\n", "model": "tts-1"}') },
    'request',
    { input_characters: 4 },
  ],
  ['sound that is cut', { isCut: true }, 'none', null],
  ['no text at all', { body: json('{"input":"","model":"tts-1"}') }, 'request', { input_characters: 0 }],
  ['an error', { status: 400, type: 'application/json', answer: json('{"error":{"message":"no"}}') }, 'none', null],
  ['text that is no text', { body: json('{"input":["a"],"model":"tts-1"}') }, 'none', null],
  ['text that is there twice', { body: json('{"input":"a","input":"b"}') }, 'none', null],
  ['no JSON', { body: json('input=abc') }, 'none', null],
  ['an encoded request', { body: gzipSync(JSON.stringify(SPEECH)), headers: ['Content-Encoding: gzip'] }, 'none', null],
  [
    'a stream that reports tokens',
    {
      type: 'text/event-stream',
      answer: json(
        'data: {"type":"speech.audio.done","usage":{"input_tokens":4,"output_tokens":9,"total_tokens":13}}\n\n',
      ),
    },
    'provider',
    { input: 4, output_audio: 9 },
  ],
  [
    'a stream that fails',
    { type: 'text/event-stream', answer: json('data: {"type":"error","code":"x","message":"oops"}\n\n') },
    'none',
    null,
  ],
  ['another endpoint', { path: '/v1/embeddings', type: 'application/json', answer: json('{"data":[]}') }, 'none', null],
])('%s', async (_, exchange, source, classes) => {
  expect(await countedOf(exchange)).toEqual([source, classes]);
});

const TWO = json('{"created":1,"data":[{"url":"https://a"},{"url":"https://b"}]}');
const DALL_E = '{"model":"dall-e-3","prompt":"p","n":2,"size":"1024x1024","quality":"hd"}';
const BOUNDARY = 'multipart/form-data; boundary=xx';

function form(fields: Readonly<Record<string, string>>, pictureBytes = 10): Buffer {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--xx\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file = '--xx\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\n';
  return Buffer.from(`${parts.join('')}${file}${'x'.repeat(pictureBytes)}\r\n--xx--\r\n`);
}

function picturesOf(exchange: Exchange) {
  return usageOf({ path: '/v1/images/generations', type: 'application/json', answer: TWO, ...exchange });
}

test.each<[string, Exchange, object | undefined]>([
  ['as they were asked for', { body: json(DALL_E) }, { size: '1024x1024', quality: 'hd' }],
  ['left to the API', { body: json('{"prompt":"p","size":null}') }, { size: null, quality: null }],
  [
    'in a form',
    { path: '/v1/images/edits', sentType: BOUNDARY, body: form({ size: '512x512', n: '2' }) },
    { size: '512x512', quality: null },
  ],
  [
    'in a form that is passed on as it comes, and kept as a whole',
    { path: '/v1/images/variations', sentType: BOUNDARY, body: form({ size: '256x256' }, 400_000) },
    { size: '256x256', quality: null },
  ],
  [
    'not of a form that is too large to be kept',
    { path: '/v1/images/edits', sentType: BOUNDARY, body: form({ size: '256x256' }, 1_200_000) },
    undefined,
  ],
  ['not of what is no size', { body: json('{"prompt":"p","size":{"width":1}}') }, undefined],
  ['not of what is too long for one', { body: json(`{"prompt":"p","quality":"${'x'.repeat(33)}"}`) }, undefined],
  ['not of what is there twice', { body: json('{"size":"256x256","size":"512x512"}') }, undefined],
  ['not of what is cut', { body: json(DALL_E.slice(0, -1)) }, undefined],
  ['not of an encoded request', { body: gzipSync(DALL_E), headers: ['Content-Encoding: gzip'] }, undefined],
])('pictures %s: the answer says how many', async (_, exchange, pictures) => {
  const { usage, usageSource } = await picturesOf(exchange);
  expect({ usageSource, classes: usage?.classes }).toEqual({ usageSource: 'provider', classes: { output_images: 2 } });
  expect(usage?.pictures).toEqual(pictures);
});

test('pictures of an answer that cannot be read are as many as were asked for', async () => {
  const unreadable = { body: json(DALL_E), answer: json('no JSON') };
  const { usage, usageSource } = await picturesOf(unreadable);
  expect({ usageSource, usage }).toEqual({
    usageSource: 'request',
    usage: {
      classes: { output_images: 2 },
      reasoning: null,
      pictures: { size: '1024x1024', quality: 'hd' },
      native: { n: 2, size: '1024x1024', quality: 'hd' },
    },
  });
  const odd = await picturesOf({ ...unreadable, body: json('{"n":-1}') });
  expect([odd.usageSource, odd.usage]).toEqual(['none', null]);
  const failed = await picturesOf({ ...unreadable, status: 400, answer: json('{"error":{"message":"no"}}') });
  expect([failed.usageSource, failed.usage]).toEqual(['none', null]);
});

test('pictures that are billed by tokens are not counted as well', async () => {
  const input_tokens_details = { text_tokens: 5, image_tokens: 0 };
  const usage = { input_tokens: 5, input_tokens_details, output_tokens: 4160, total_tokens: 4165 };
  const answer = json(JSON.stringify({ data: [{ b64_json: 'AAAA' }], usage }));
  const { usage: read } = await picturesOf({ body: json(DALL_E.replace('dall-e-3', 'gpt-image-1')), answer });
  expect(read).toEqual({
    classes: { input: 5, input_image: 0, output: 0, output_image: 4160 },
    reasoning: null,
    native: usage,
  });
});

const RANKED = json('{"results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.1}]}');

function rank(documents: readonly unknown[], query = 'toll?', more: object = {}): Exchange {
  const body = json(JSON.stringify({ query, documents, top_n: 2, api_version: 2, ...more }));
  return { path: '/model/cohere.rerank-v3-5:0/invoke', type: 'application/json', answer: RANKED, body };
}

const many = (length: number, text: string) => new Array<string>(length).fill(text);

test.each<[string, Exchange, string, object | null, boolean]>([
  ['one query', rank(['a gate', 'a bridge']), 'request', { rerank_queries: 1 }, false],
  ['a hundred documents', rank(many(100, 'a gate')), 'request', { rerank_queries: 1 }, false],
  ['one more', rank(many(101, 'a gate')), 'request', { rerank_queries: 2 }, false],
  ['documents that are objects', rank([{ text: 'a gate' }]), 'request', { rerank_queries: 1 }, false],
  ['a long document, far from a second query', rank(['a '.repeat(20_000)]), 'request', { rerank_queries: 1 }, false],
  [
    'documents that may be cut into another query',
    rank(many(60, 'a '.repeat(500))),
    'request',
    { rerank_queries: 1 },
    true,
  ],
  ['a query as long as a piece', rank(['a gate'], 'a '.repeat(300)), 'request', { rerank_queries: 1 }, true],
  [
    'a count of the provider’s own',
    { ...rank(['a gate']), answer: json('{"results":[],"meta":{"billed_units":{"search_units":3}}}') },
    'provider',
    { rerank_queries: 3 },
    false,
  ],
  ['no documents', rank([]), 'none', null, false],
  ['an error', { ...rank(['a']), status: 400, answer: json('{"message":"no"}') }, 'none', null, false],
  [
    'a model that ranks nothing',
    { ...rank(['a gate']), path: '/model/amazon.titan-text-express-v1/invoke' },
    'none',
    null,
    false,
  ],
])('a reranker’s request: %s', async (_, exchange, source, classes, isIncomplete) => {
  const { usageSource, usage } = await usageOf(exchange);
  expect([usageSource, usage?.classes ?? null, usage?.isIncomplete === true]).toEqual([source, classes, isIncomplete]);
});
