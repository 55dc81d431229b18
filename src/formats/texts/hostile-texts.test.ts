/** Bodies from strangers: whatever is in them, reading their text neither throws nor grows, and loses no message. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PlainBody, readCallTexts } from './call-texts.ts';
import { SNIPPET_CHARACTERS } from './make-snippet.ts';
import { MAX_TEXT_CHARACTERS } from './plain-text.ts';

const TYPES = [
  null,
  'application/json',
  'text/event-stream',
  'application/x-ndjson',
  'application/vnd.amazon.eventstream',
  'multipart/form-data; boundary=b',
  'text/plain',
  'audio/mpeg',
];

/** Members that readers look for, in any place. */
const NAMES = [
  'messages',
  'contents',
  'input',
  'role',
  'content',
  'parts',
  'text',
  'type',
  'tool_calls',
  'arguments',
  'choices',
  'delta',
  'index',
  'output',
  'response',
  'bytes',
  'item',
  '__proto__',
  'constructor',
];

const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      'user',
      'assistant',
      'tool_result',
      'function_call',
      'response.output_text.delta',
      null,
      0,
      -1,
      true,
    ),
    fc.double(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.constantFrom(...NAMES), tie('value')), { maxLength: 5 })
      .map((pairs) => Object.fromEntries(pairs)),
  ),
})).value;

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
  values.map((value) => Buffer.from(JSON.stringify(value) ?? '')),
  fc
    .array(values, { maxLength: 4 })
    .map((list) => Buffer.from(list.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''))),
  fc.array(values, { maxLength: 4 }).map((list) => Buffer.from(list.map((one) => `${JSON.stringify(one)}\n`).join(''))),
);

const bodies: fc.Arbitrary<PlainBody | null> = fc.option(
  fc.record({ head: bytes, tail: fc.option(bytes), contentType: fc.constantFrom(...TYPES) }),
);

test('nothing makes it throw, and its bounds hold', () => {
  fc.assert(
    fc.property(bodies, bodies, (request, response) => {
      const texts = readCallTexts(request, response);
      for (const text of [texts.prompt, texts.answer]) expect(text.length).toBeLessThanOrEqual(MAX_TEXT_CHARACTERS);
      for (const line of [texts.promptSnippet, texts.answerSnippet]) {
        expect(line.length).toBeLessThanOrEqual(4 * SNIPPET_CHARACTERS + 1);
        expect(line).not.toMatch(/[\n\r\0]/);
      }
    }),
    { numRuns: 3_000 },
  );
});

/** Any script; JSON in a text would be shown without its escapes, and a long run of base64 is left out. */
const said = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }).filter((text) => /^[^\s[{]/.test(text));

test('each message of a conversation is found as it was said, in every form of a request', () => {
  fc.assert(
    fc.property(fc.array(said, { minLength: 1, maxLength: 6 }), (messages) => {
      const roles = messages.map((text, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', text }));
      const forms = [
        { messages: roles.map(({ role, text }) => ({ role, content: text })) },
        { input: roles.map(({ role, text }) => ({ type: 'message', role, content: [{ type: 'input_text', text }] })) },
        { messages: roles.map(({ role, text }) => ({ role, content: [{ type: 'text', text }] })) },
        { contents: roles.map(({ role, text }) => ({ role, parts: [{ text }] })) },
        { messages: roles.map(({ role, text }) => ({ role, content: [{ text }] })) },
      ];
      for (const form of forms) {
        const head = Buffer.from(JSON.stringify(form));
        const { prompt } = readCallTexts({ head, tail: null, contentType: 'application/json' }, null);
        expect(prompt).toBe(messages.join('\n'));
      }
    }),
    { numRuns: 300 },
  );
});

test('an answer in pieces is the answer in one, however it is cut into pieces', () => {
  fc.assert(
    fc.property(fc.array(said, { minLength: 1, maxLength: 8 }), (pieces) => {
      const streams = [
        pieces.map((content) => ({ choices: [{ index: 0, delta: { content } }] })),
        pieces.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
        pieces.map((delta) => ({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta })),
        pieces.map((text) => ({ candidates: [{ content: { role: 'model', parts: [{ text }] } }] })),
      ];
      for (const events of streams) {
        const head = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
        const { answer } = readCallTexts(null, { head, tail: null, contentType: 'text/event-stream' });
        expect(answer).toBe(pieces.join(''));
      }
    }),
    { numRuns: 300 },
  );
});
