/** Usage at the end of answers of many megabytes, as they come over a connection: in pieces, behind any coding. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { UsageFormatName } from '../../providers/format-names.ts';
import type { ReportedUsage } from '../../vocabulary/token-usage.ts';
import { MAX_KEPT_BYTES } from '../wire/json-thinner.ts';
import { USAGE_FORMATS } from './registry.ts';
import { createUsageReader } from './usage-reader.ts';

const PIECE_BYTES = 64 * 1024;

async function read(format: UsageFormatName, contentType: string, body: Buffer | string, coding: string | null = null) {
  const reader = createUsageReader({
    format: USAGE_FORMATS[format],
    status: 200,
    contentType,
    contentEncoding: coding,
  });
  const bytes = Buffer.from(body);
  let mostBuffered = 0;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    reader.push(bytes.subarray(at, at + PIECE_BYTES));
    // What is decoded beside the call needs its turns, as it has them between the pieces of a connection.
    while (coding !== null && reader.bufferedBytes > 1024 * 1024) await nextTurn();
    mostBuffered = Math.max(mostBuffered, reader.bufferedBytes);
  }
  const { usage, model, terminal, flags } = await new Promise<ReportedUsage>((resolve) => reader.finish(true, resolve));
  expect(mostBuffered).toBeLessThanOrEqual(2 * MAX_KEPT_BYTES);
  return { classes: usage?.classes, isIncomplete: usage?.isIncomplete ?? false, model, terminal, flags };
}

const whole = (model: string | null, classes: object) => ({
  model,
  classes,
  isIncomplete: false,
  terminal: true,
  flags: [],
});

/** Numbers as models give them, and different ones, so that codings cannot make them small. */
const vector = (length: number, seed: number) =>
  Array.from({ length }, (_, index) => Math.sin(seed * 1_000 + index) / 20);

const EMBEDDINGS = {
  object: 'list',
  data: Array.from({ length: 400 }, (_, index) => ({ object: 'embedding', index, embedding: vector(1_536, index) })),
  model: 'text-embedding-3-small',
  usage: { prompt_tokens: 50_000, total_tokens: 50_000 },
};
const EMBEDDED = whole('text-embedding-3-small', { input: 50_000 });

/** Of one token. */
const PROBABILITIES = Array.from({ length: 20 }, (_, rank) => ({
  token: ` the"${rank}`,
  logprob: -rank / 7,
  bytes: [32],
}));
const CONTENT = Array.from({ length: 9_000 }, () => ({ token: ' a', logprob: -0.1, top_logprobs: PROBABILITIES }));
const CHAT = {
  id: 'chatcmpl-1',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'x\n'.repeat(20_000) }, logprobs: { content: CONTENT } },
  ],
  model: 'gpt-4.1-mini-2025-04-14',
  usage: { prompt_tokens: 12, completion_tokens: 9_000, total_tokens: 9_012 },
};
const CHATTED = whole('gpt-4.1-mini-2025-04-14', { input: 12, output: 9_000 });

const RESPONSE = {
  id: 'resp_1',
  background: true,
  status: 'completed',
  model: 'gpt-5',
  output: [
    { type: 'web_search_call', status: 'completed', action: { type: 'search' } },
    { type: 'message', content: [{ type: 'output_text', text: 'é"'.repeat(3_000_000), logprobs: CONTENT }] },
    { type: 'web_search_call', status: 'completed', action: { type: 'search' } },
  ],
  usage: { input_tokens: 14, output_tokens: 4_160, total_tokens: 4_174 },
};
const RESPONDED = whole('gpt-5', { input: 14, output: 4_160, web_search_requests: 2 });

const CODINGS = [
  ['gzip', (body: string) => gzipSync(body, { level: 1 })],
  ['deflate', (body: string) => deflateSync(body, { level: 1 })],
  ['br', (body: string) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ['zstd', (body: string) => zstdCompressSync(body)],
] as const;

test('embeddings of 700,000 numbers, plain, with room between them, and behind every coding', async () => {
  const body = JSON.stringify(EMBEDDINGS);
  expect(body.length).toBeGreaterThan(12_000_000);
  expect(await read('embeddings', 'application/json', body)).toEqual(EMBEDDED);
  expect(await read('embeddings', 'application/json', JSON.stringify(EMBEDDINGS, null, 1))).toEqual(EMBEDDED);
  for (const [coding, encode] of CODINGS)
    expect([coding, await read('embeddings', 'application/json', encode(body), coding)]).toEqual([coding, EMBEDDED]);
});

test('embeddings of Google’s, with a sum or with a count of each', async () => {
  const embeddings = Array.from({ length: 150 }, (_, index) => ({ values: vector(3_072, index) }));
  const summed = JSON.stringify({ embeddings, usageMetadata: { promptTokenCount: 900 } }, null, 2);
  expect(summed.length).toBeGreaterThan(9_000_000);
  expect(await read('gemini-embeddings', 'application/json', summed)).toEqual(whole(null, { input: 900 }));
  const counted = embeddings.map((embedding) => ({ ...embedding, statistics: { tokenCount: 6 } }));
  const body = JSON.stringify({ embeddings: counted });
  expect(await read('gemini-embeddings', 'application/json', body)).toEqual(whole(null, { input: 900 }));
});

test('a chat completion with the probabilities of 180,000 tokens, as JSON and in one event', async () => {
  const body = JSON.stringify(CHAT);
  expect(body.length).toBeGreaterThan(8_400_000);
  expect(await read('chat-completions', 'application/json', body)).toEqual(CHATTED);
  const events = `data: {"choices":[]}\n\ndata: ${body}\n\ndata: [DONE]\n\n`;
  expect(await read('chat-completions', 'text/event-stream', events)).toEqual(CHATTED);
  expect(await read('chat-completions', 'text/event-stream', gzipSync(events), 'gzip')).toEqual(CHATTED);
});

test('a response of 19 MB, fetched or in the last event of a stream, with what is counted in its output', async () => {
  expect(await read('responses', 'application/json', JSON.stringify(RESPONSE))).toEqual(RESPONDED);
  const event = JSON.stringify({ type: 'response.completed', response: RESPONSE });
  expect(await read('responses', 'text/event-stream', `event: response.completed\ndata: ${event}\n\n`)).toEqual(
    RESPONDED,
  );
});

test('a stream of Google’s as an array with a large element, and a message with its usage behind a large block', async () => {
  const large = { candidates: [{ content: { parts: [{ inlineData: { data: 'QUJD'.repeat(3_000_000) } }] } }] };
  const last = { candidates: [{ finishReason: 'STOP' }], modelVersion: 'g', usageMetadata: { promptTokenCount: 3 } };
  const both = { ...large, ...last, candidates: [{ ...large.candidates[0], finishReason: 'STOP' }] };
  for (const elements of [[large, last], [both]])
    expect(await read('generate-content', 'application/json', JSON.stringify(elements))).toEqual(
      whole('g', { input: 3 }),
    );
  const message = {
    type: 'message',
    content: [
      { type: 'text', text: '\\'.repeat(5_000_000) },
      { type: 'server_tool_use', name: 'bash_code_execution', input: { command: 'x'.repeat(5_000_000) } },
    ],
    model: 'claude-opus-4-5',
    usage: { input_tokens: 5, output_tokens: 6 },
  };
  const counted = whole('claude-opus-4-5', { input: 5, output: 6, code_execution_requests: 1 });
  expect(await read('messages', 'application/json', JSON.stringify(message))).toEqual(counted);
});

test('lines of results, one of them larger than what is held', async () => {
  const line = (text: string) =>
    JSON.stringify({
      result: {
        type: 'succeeded',
        message: { model: 'm', content: [{ type: 'text', text }], usage: { input_tokens: 5, output_tokens: 2 } },
      },
    });
  const body = [line('a'), line('x'.repeat(9_000_000)), line('b')].join('\n');
  expect(await read('message-batch', 'application/x-jsonl', body)).toMatchObject({
    classes: { input: 15, output: 6 },
    isIncomplete: false,
    terminal: true,
    flags: [],
  });
});

test('an endless event, or an answer that is no JSON, says that it was not read', async () => {
  const endless = `data: ${'a'.repeat(20_000_000)}\n\ndata: {"usage":{"prompt_tokens":3,"completion_tokens":1}}\n\n`;
  expect(await read('chat-completions', 'text/event-stream', `${endless}data: [DONE]\n\n`)).toMatchObject({
    classes: { input: 3, output: 1 },
    isIncomplete: true,
    flags: ['tap_limit'],
  });
  expect((await read('embeddings', 'application/json', '<'.repeat(20_000_000))).flags).toContain('tap_limit');
});
