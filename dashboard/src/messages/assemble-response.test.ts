import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assembleResponse } from './assemble-response.ts';
import { readField, readList, readText } from './json-reading.ts';
import { readConversation } from './read-conversation.ts';

const FIXTURES = join(import.meta.dirname, '../../../fixtures');

const UTF8 = new TextEncoder();

interface Fixture {
  readonly endpoint: string | null;
  readonly request: unknown;
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
}

function readJsonFile(path: string): unknown {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  return value;
}

function readFixture(name: string): Fixture {
  const path = join(FIXTURES, name);
  const ending = ['json', 'sse', 'bin', 'jsonl'].find((one) =>
    readdirSync(join(path, '..')).includes(`${name.split('/')[1]}.response.${one}`),
  );
  const headers = readField(readJsonFile(`${path}.response.head.json`), 'headers');
  return {
    endpoint: readText(readField(readJsonFile(`${path}.expected.json`), 'endpoint'), 'family'),
    request: readField(readJsonFile(`${path}.request.json`), 'body'),
    bytes: readFileSync(`${path}.response.${ending}`),
    contentType: readText(headers, 'content-type'),
  };
}

function listFixtures(): readonly string[] {
  return readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.request.json'))
    .map((file) => file.slice(0, -'.request.json'.length));
}

function sayings(name: string): readonly string[] {
  const { endpoint, request, bytes, contentType } = readFixture(name);
  const { value } = assembleResponse({ bytes, contentType, endpoint });
  const conversation = readConversation({ endpoint, request, response: value });
  return (conversation?.messages ?? []).flatMap(({ role, parts }) =>
    parts.map((part) => {
      if (part.type === 'tool_call') return `${role} calls ${part.name} ${JSON.stringify(part.arguments)}`;
      return `${role} ${part.type === 'text' ? 'says' : part.type} ${'text' in part ? part.text : ''}`;
    }),
  );
}

test('a streamed answer reads like one in a piece, in every format', () => {
  expect(sayings('openai/chat-tool-call-stream')).toEqual([
    'user says What is the toll on the A1?',
    'assistant calls read_toll {"road":"A1 – München"}',
  ]);
  expect(sayings('anthropic/messages-tool-use-stream').at(-1)).toBe('assistant calls read_toll {"road":"A1 Köln"}');
  expect(sayings('openai/responses-stream')).toEqual([
    'user says Greet the demo.',
    'assistant says Tollgate demo: Antworten, réponses, 回答 – all of them metered.',
  ]);
  expect(sayings('gemini/stream-array').at(-1)).toBe(
    'assistant says Tollgate demo: die Maut für Token – 日本語もどうぞ 🎌.',
  );
  expect(sayings('bedrock/converse-stream')).toEqual([
    'user says Introduce the demo.',
    expect.stringMatching(/^assistant says Tollgate demo/),
  ]);
  expect(sayings('deepseek/chat-stream').at(-1)).toBe('assistant says Tollgate demo: 深度思考 – deep and seeking.');
});

test('every recorded exchange is read; those that talk make a conversation, those that fail report an error', () => {
  const families = ['chat.completions', 'completions', 'responses', 'messages', 'generateContent', 'converse'];
  for (const name of listFixtures()) {
    const { endpoint, request, bytes, contentType } = readFixture(name);
    const { value, error, framing } = assembleResponse({ bytes, contentType, endpoint });
    if (!/^(?:text\/plain|audio\/)/.test(contentType ?? '')) expect(framing, name).not.toBe('text');
    const conversation = readConversation({ endpoint, request, response: value });
    if (/error|exception|failed/.test(name)) expect(error?.message, name).toBeTruthy();
    // What is made later, was stopped before it was made, or was refused, has nothing to say.
    else if (families.includes(endpoint ?? '') && !/created|running|cancelled|refusal/.test(name))
      expect(
        conversation?.messages.some(({ source }) => source === 'response'),
        name,
      ).toBe(true);
    else if (endpoint === 'embeddings') expect(conversation).toBeNull();
  }
});

test('an answer cut at any byte never throws, and what came before the cut is kept', () => {
  for (const name of [
    'openai/chat-stream-usage',
    'anthropic/messages-stream',
    'gemini/stream-array',
    'bedrock/converse-stream',
  ]) {
    const { endpoint, bytes, contentType } = readFixture(name);
    for (let end = 0; end < bytes.length; end += 7)
      assembleResponse({ bytes: bytes.subarray(0, end), contentType, endpoint });
  }
  const { bytes } = readFixture('gemini/stream-array');
  const text = new TextDecoder().decode(bytes);
  const cut = assembleResponse({
    bytes: UTF8.encode(text.slice(0, text.indexOf('für Token') + 4)),
    contentType: 'application/json',
    endpoint: 'streamGenerateContent',
  });
  expect(cut.problems).toEqual(['The body that was kept ends in the middle of an event.']);
  expect(JSON.stringify(cut.value)).toContain('die Maut');
});

test('a response that was cut before its last event is put together from the pieces', () => {
  const { bytes } = readFixture('openai/responses-stream');
  const text = new TextDecoder().decode(bytes);
  const { value } = assembleResponse({
    bytes: UTF8.encode(text.slice(0, text.indexOf('event: response.output_text.done'))),
    contentType: 'text/event-stream',
    endpoint: 'responses',
  });
  expect(JSON.stringify(readList(value, 'output'))).toContain('réponses, 回答 – all of them metered.');
});

test('bytes that are anything at all never throw', () => {
  const types = [
    'text/event-stream',
    'application/json',
    'application/vnd.amazon.eventstream',
    'application/x-ndjson',
    null,
  ];
  const endpoints = [
    'chat.completions',
    'responses',
    'messages',
    'streamGenerateContent',
    'converse-stream',
    'unknown',
  ];
  const json = fc.json().map((text) => `data: ${text}\n\n`);
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        json.map((text) => UTF8.encode(text)),
        fc.json().map((text) => UTF8.encode(text)),
      ),
      fc.constantFrom(...types),
      fc.constantFrom(...endpoints),
      (bytes, contentType, endpoint) => {
        const { value } = assembleResponse({ bytes, contentType, endpoint });
        readConversation({ endpoint, request: value, response: value });
      },
    ),
    { numRuns: 500 },
  );
});

test('what is not UTF-8 is marked and still read', () => {
  const bytes = Uint8Array.from([
    ...UTF8.encode('{"choices":[{"message":{"content":"a'),
    0xff,
    ...UTF8.encode('b"}}]}'),
  ]);
  const { value, problems } = assembleResponse({
    bytes,
    contentType: 'application/json',
    endpoint: 'chat.completions',
  });
  expect(problems).toEqual(['Some bytes are not UTF-8; they show as �.']);
  expect(JSON.stringify(value)).toContain('a\uFFFDb');
});

test('a thousand events that cannot be read are counted', () => {
  const { problems, events } = assembleResponse({
    bytes: UTF8.encode('data: {broken\n\n'.repeat(1_000)),
    contentType: 'text/event-stream',
    endpoint: 'chat.completions',
  });
  expect(events).toBe(0);
  expect(problems).toEqual(['1000 events could not be read; they are left out here.']);
});
