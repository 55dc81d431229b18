import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { listFixtures } from '../../../../test/support/fixtures.ts';
import { readAnswerText } from './answer-text.ts';

const FIXTURES = new Map(listFixtures().map((fixture) => [`${fixture.provider}/${fixture.name}`, fixture]));

/** The answer up to and without the first `before` in it, or all of it. */
function readFixture(name: string, before?: string) {
  const fixture = FIXTURES.get(name);
  if (fixture === undefined) throw new Error(`no fixture ${name}`);
  const end = before === undefined ? -1 : fixture.body.indexOf(before);
  return readAnswerText(
    end === -1 ? fixture.body : fixture.body.subarray(0, end),
    fixture.headers['content-type'] ?? null,
  );
}

describe('what a model wrote until the answer was cut', () => {
  test.each([
    ['openai/chat-stream-cut', undefined, ['Tollgate']],
    ['openai/chat-tool-call-stream', 'München', ['read_toll', '{"road":"A1 – ']],
    ['openai/completions-stream', '"usage":{', ['Tollgate demo.']],
    [
      'openai/responses-stream',
      'response.output_text.done',
      ['Tollgate demo: Antworten, réponses, 回答 – all of them metered.'],
    ],
    ['anthropic/messages-cut-stream', undefined, ['Once upon a toll']],
    ['anthropic/messages-tool-use-stream', 'message_delta', ['read_toll', '{"road": "A1 Köln"}']],
    ['gemini/stream-sse-cut', undefined, ['Tollgate demo: and then ']],
    ['gemini/stream-array-cut', undefined, ['Tollgate demo: ']],
    ['gemini/interactions-stream-error', undefined, ['Tollgate ']],
    ['bedrock/converse-stream-exception', undefined, ['Tollgate demo: frames instead of lines, ']],
    ['bedrock/invoke-claude-stream', undefined, ['Tollgate demo: 数える']],
    ['bedrock/invoke-llama-cut-stream', undefined, ['Tollgate']],
    ['bedrock/invoke-nova-stream', undefined, ['Tollgate demo: Nova counts in camel case.']],
    ['deepseek/chat-stream-cut', undefined, ['Tollgate demo: and then ']],
    ['together/chat-stream-error', undefined, ['Tollgate ']],
    // One JSON body, not a stream.
    ['anthropic/messages-tool-use', '"A1"', ['Tollgate demo: looking up the toll.', 'read_toll']],
    ['openai/responses', ' – all of them', ['Tollgate demo: Antworten, réponses, 回答']],
    ['gemini/generate-tool-call', undefined, ['read_toll', '{"road":"A1"}']],
    ['bedrock/converse-tool-use', undefined, ['Tollgate demo: looking up the toll.', '{"road":"A1"}', 'read_toll']],
  ])('%s before %s', (name, before, texts) => {
    expect(readFixture(name, before)?.all).toEqual({ texts, overBytes: 0 });
  });

  test('every recorded exchange is read to any cut without an error, and more of it is never less text', () => {
    const PARTS = 12;
    for (const [name, { body, headers }] of FIXTURES) {
      const lengths = Array.from({ length: PARTS + 1 }, (_, part) => {
        const cut = body.subarray(0, Math.floor((body.length * part) / PARTS));
        return readAnswerText(cut, headers['content-type'] ?? null)?.all.texts.join('').length ?? 0;
      });
      expect(lengths, name).toEqual(lengths.toSorted((a, b) => a - b));
    }
  });

  test('whole streams repeat at their end what they said, and it counts once', () => {
    expect(readFixture('openai/responses-stream')?.all.texts).toEqual([
      'Tollgate demo: Antworten, réponses, 回答 – all of them metered.',
    ]);
  });

  test('pieces of two answers that come in turns are put together each for itself', () => {
    const chunk = (index: number, content: string) =>
      `data: {"choices":[{"index":${index},"delta":{"content":"${content}"}}]}\n\n`;
    const body = Buffer.from(chunk(0, 'To') + chunk(1, 'Ga') + chunk(0, 'll') + chunk(1, 'te'));
    expect(readAnswerText(body, 'text/event-stream')?.all.texts).toEqual(['Toll', 'Gate']);
  });

  test('what was reported in the middle of a stream divides it', () => {
    const chunk = (text: string, rest = '') =>
      `data: {"candidates":[{"content":{"parts":[{"text":"${text}"}]}}]${rest}}\n\n`;
    const body = Buffer.from(chunk('one', ',"usageMetadata":{"candidatesTokenCount":1}') + chunk(' two'));
    const text = readAnswerText(body, 'text/event-stream');
    expect(text?.all.texts).toEqual(['one two']);
    expect(text?.sinceReport?.texts).toEqual([' two']);
  });

  test("the placeholder at the beginning of Anthropic's stream is no report", () => {
    expect(readFixture('anthropic/messages-cut-stream')?.sinceReport).toBeNull();
    expect(readFixture('anthropic/messages-stream')?.sinceReport?.texts).toEqual([]);
  });

  test('sound and pictures are named, not counted', () => {
    expect(readFixture('openai/chat-audio')).toMatchObject({
      all: { texts: [] },
      notCounted: ['media'],
      hasBegun: false,
    });
  });

  test('thoughts of which only a summary is sent are named', () => {
    expect(readFixture('openai/responses')?.notCounted).toEqual(['hidden_reasoning']);
    expect(readFixture('anthropic/messages-thinking')?.notCounted).toEqual(['hidden_reasoning']);
  });

  test('a stream that has begun and said nothing has begun; a body without text has not', () => {
    expect(readFixture('anthropic/messages-cut-stream', 'content_block_delta')).toMatchObject({ hasBegun: true });
    expect(readFixture('bedrock/invoke-titan-embedding')).toMatchObject({ hasBegun: false });
  });

  test.each([
    ['a page', Buffer.from('<html>'), 'text/html'],
    ['no event', Buffer.from(': keep-alive\n\n'), 'text/event-stream'],
    ['bytes that are something else', gzipSync('data: {}\n\n'), 'application/json'],
    ['nothing', Buffer.alloc(0), null],
  ])('%s cannot be read', (_what, body, contentType) => {
    expect(readAnswerText(body, contentType)).toBeNull();
  });

  test('deeply nested events are read down to a depth', () => {
    const body = Buffer.from(`{"text":"top","a":${'['.repeat(5_000)}{"text":"x"}${']'.repeat(5_000)}}`);
    expect(readAnswerText(body, 'application/json')?.all.texts).toEqual(['top']);
  });

  test.each([
    ['a body', `{"choices":[{"index":0,"message":{"content":"${'x'.repeat(300_000)}"}}]}`, 'application/json'],
    [
      'an event',
      `data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(300_000)}"}}]}\n\n`,
      'text/event-stream',
    ],
    ['an element', `[{"candidates":[{"content":{"parts":[{"text":"${'x'.repeat(300_000)}"}]}}]}]`, 'application/json'],
  ])('all of the text of %s is read, however large it is', (_what, body, contentType) => {
    expect(readAnswerText(Buffer.from(body), contentType)?.all.texts.map(({ length }) => length)).toEqual([300_000]);
  });

  test('text beyond the limit is only measured', () => {
    const piece = 'x'.repeat(300_000);
    const event = `data: {"choices":[{"index":0,"delta":{"content":"${piece}"}}]}\n\n`;
    const text = readAnswerText(Buffer.from(event.repeat(5)), 'text/event-stream');
    expect(text?.all.texts.map(({ length }) => length)).toEqual([900_000]);
    expect(text?.all.overBytes).toBe(600_000);
  });
});
