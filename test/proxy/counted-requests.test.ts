/** Speech is billed by the characters sent: what the gateway counts itself, and when it does not. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../fake-provider.ts';
import { readRawAnswer } from '../read-raw-answer.ts';
import { buildAnswer } from '../scripted-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

const SOUND = Buffer.from([0xff, 0xfb, 0x90, 0x64, 0, 1, 2, 3]);
const SPEECH = { model: 'tts-1', voice: 'alloy', input: 'Zoll 🛂\n' };

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

interface Exchange {
  readonly path?: string;
  readonly body?: Buffer;
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
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
    ...headers,
    '',
    '',
  ];
  await readRawAnswer('127.0.0.1', proxy.port, Buffer.concat([Buffer.from(lines.join('\r\n')), body]));
  const { end } = await proxy.lastCall();
  return [end.usageSource, end.usage?.classes ?? null];
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
  expect(await usageOf(exchange)).toEqual([source, classes]);
});
