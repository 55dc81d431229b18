import { describe, expect, test } from 'vitest';
import type { UsageFormatName } from '../../providers/format-names.ts';
import type { ReportedUsage } from '../../vocabulary/token-usage.ts';
import { USAGE_FORMATS } from './registry.ts';
import { createUsageReader } from './usage-reader.ts';

const SSE = 'text/event-stream';
const JSON_TYPE = 'application/json; charset=utf-8';

interface Answered {
  readonly status?: number;
  readonly contentType?: string | null;
  readonly hasBody?: boolean;
}

/** An answer that HTTP delivered whole. */
function read(format: UsageFormatName, body: string, { status = 200, contentType = SSE, hasBody }: Answered = {}) {
  const options = { status, contentType, contentEncoding: null };
  const reader = createUsageReader({
    format: USAGE_FORMATS[format],
    ...options,
    ...(hasBody === undefined ? {} : { hasBody }),
  });
  reader.push(Buffer.from(body));
  // Nothing is encoded, so the reader is done at once.
  const readings: ReportedUsage[] = [];
  reader.finish(true, (reported) => readings.push(reported));
  return readings[0] ?? expect.fail('the reader did not finish at once');
}

function verdict(reported: ReportedUsage) {
  const { terminal, shortfall = null, flags } = reported;
  return { terminal, shortfall, flags };
}

const WHOLE = { terminal: true, shortfall: null, flags: [] };
const SHORT = { terminal: false, shortfall: 'ended_early', flags: [] };
const REMARKED = { terminal: false, shortfall: null, flags: ['no_ending'] };

const events = (...data: readonly unknown[]) => data.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
const USAGE = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
const choice = (index: number, finish: string | null, more: object = {}) => ({
  model: 'm',
  choices: [{ index, delta: { content: 'x' }, finish_reason: finish }],
  ...more,
});
const usageOnly = { model: 'm', choices: [], usage: USAGE };

describe('a chat stream', () => {
  test.each<[string, string, object]>([
    [
      'with its finish reason, its usage and `[DONE]`',
      `${events(choice(0, 'stop'), usageOnly)}data: [DONE]\n\n`,
      WHOLE,
    ],
    ['that lacks only `[DONE]`, its usage in a chunk of its own', events(choice(0, 'stop'), usageOnly), WHOLE],
    ['that lacks only `[DONE]`, its usage on the last chunk', events(choice(0, 'stop', { usage: USAGE })), WHOLE],
    ['whose `[DONE]` is cut', `${events(choice(0, 'stop'), usageOnly)}data: [DO`, WHOLE],
    ['that has `[DONE]` and no finish reason', `${events(choice(0, null))}data: [DONE]\n\n`, WHOLE],
    ['that lacks `[DONE]` and usage, which may have been to come', events(choice(0, 'stop')), REMARKED],
    ['with usage on every chunk, and no end', events(choice(0, null, { usage: USAGE })), SHORT],
    ['that ends after its first words', events(choice(0, null)), SHORT],
    ['of which one of two choices has finished', events(choice(0, null), choice(1, null), choice(0, 'stop')), SHORT],
    [
      'of which both choices have finished',
      events(choice(1, null), choice(0, 'stop'), choice(1, 'length'), usageOnly),
      WHOLE,
    ],
    [
      'with the verdict of a filter behind the finish reason',
      events(choice(0, null), choice(0, 'stop', { usage: USAGE }), choice(0, null)),
      WHOLE,
    ],
    ['of keep-alive comments alone', ': keep-alive\n\n: keep-alive\n\n', SHORT],
    ['of nothing', '', SHORT],
  ])('%s', (_, body, expected) => {
    expect(verdict(read('chat-completions', body))).toEqual(expected);
  });

  test('with an error event has an ending of its own', () => {
    const reported = read('chat-completions', events(choice(0, null), { error: { message: 'overloaded' } }));
    expect(verdict(reported)).toEqual({ terminal: false, shortfall: null, flags: [] });
  });

  test('that is cut within its usage has its answer, and a remark', () => {
    const body = `${events(choice(0, 'stop'))}data: {"choices":[],"usage":{"prompt_tok`;
    expect(verdict(read('chat-completions', body)).flags).toEqual(['undecodable', 'no_ending']);
  });
});

describe('a stream of another format', () => {
  const start = {
    type: 'message_start',
    message: { model: 'c', usage: { input_tokens: 9, output_tokens: 1 } },
  };
  const stop = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 16 } };

  test.each<[UsageFormatName, string, string, object]>([
    ['messages', 'up to its `message_stop`', events(start, stop, { type: 'message_stop' }), WHOLE],
    ['messages', 'that lacks only its `message_stop`', events(start, stop), WHOLE],
    ['messages', 'that ends after its start', events(start), SHORT],
    ['messages', 'of pings', events({ type: 'ping' }, { type: 'ping' }), SHORT],
    ['generate-content', 'with a finish reason', events({ candidates: [{ finishReason: 'STOP' }] }), WHOLE],
    ['generate-content', 'whose prompt was blocked', events({ promptFeedback: { blockReason: 'SAFETY' } }), WHOLE],
    ['generate-content', 'without a finish reason', events({ candidates: [{ index: 0 }], usageMetadata: {} }), SHORT],
    [
      'generate-content',
      'of two candidates, one of which goes on',
      events(
        { candidates: [{ index: 0 }, { index: 1 }], usageMetadata: {} },
        { candidates: [{ index: 1, finishReason: 'STOP' }] },
      ),
      SHORT,
    ],
    ['responses', 'up to `response.incomplete`', events({ type: 'response.incomplete', response: {} }), WHOLE],
    ['responses', 'that ends after its creation', events({ type: 'response.created', response: {} }), SHORT],
    ['interactions', 'that ends in a step', events({ event_type: 'step.delta', delta: {} }), SHORT],
    ['images', 'that ends with a partial picture', events({ type: 'image_generation.partial_image' }), SHORT],
    ['transcriptions', 'that ends before its text is done', events({ type: 'transcript.text.delta' }), SHORT],
    ['embeddings', 'whose format nobody knows', events({ data: [] }), REMARKED],
    ['opaque', 'that is not metered', events({ anything: true }), { ...WHOLE, terminal: false }],
  ])('%s, %s', (format, _, body, expected) => {
    expect(verdict(read(format, body))).toEqual(expected);
  });

  test('an Anthropic stream that never reported its output is not known whole', () => {
    const { usage, terminal } = read('messages', events(start, { type: 'message_stop' }));
    expect({ terminal, usage }).toMatchObject({ terminal: true, usage: { classes: { input: 9 }, isIncomplete: true } });
    expect(usage?.classes).not.toHaveProperty('output');
  });
});

describe('an answer that was announced as JSON', () => {
  const NOT_JSON = { terminal: false, shortfall: 'not_json', flags: ['undecodable'] };
  const announced = (format: UsageFormatName, body: string, more: Answered = {}) =>
    verdict(read(format, body, { contentType: JSON_TYPE, ...more }));

  test.each<[string, string, object]>([
    ['and is', '{"id":"x"}', WHOLE],
    ['and is a bare text', '"x"', WHOLE],
    ['and is a page', '<html><body>Bad gateway</body></html>', NOT_JSON],
    ['and is blank lines', '\n\n\n', NOT_JSON],
    ['and is empty', '', { ...NOT_JSON, flags: [] }],
    ['and stops in the middle', '{"id":"x","choices":[{', NOT_JSON],
  ])('%s', (_, body, expected) => {
    expect(announced('chat-completions', body)).toEqual(expected);
  });

  test('an array is whole when it is closed', () => {
    expect(announced('generate-content', '[{"candidates":[]}]')).toEqual(WHOLE);
    expect(announced('generate-content', '[{"candidates":[]},')).toEqual({
      ...SHORT,
      flags: ['undecodable'],
    });
    expect(announced('generate-content', ' \r\n')).toEqual({ ...NOT_JSON, flags: [] });
  });

  test('by an endpoint that is not metered is looked at, too; there an empty one is usual', () => {
    expect(announced('opaque', '{"data":[]}')).toEqual({ ...WHOLE, terminal: false });
    expect(announced('opaque', '<html>')).toEqual(NOT_JSON);
    expect(announced('opaque', '')).toEqual(REMARKED);
  });

  test('is not judged where no body, or a part of one, is what was asked for', () => {
    const NOT_JUDGED = { terminal: false, shortfall: null, flags: [] };
    expect(announced('opaque', '', { hasBody: false })).toEqual(NOT_JUDGED);
    expect(announced('opaque', '', { status: 204 })).toEqual(NOT_JUDGED);
    expect(announced('opaque', '', { status: 304 })).toEqual(NOT_JUDGED);
    expect(announced('opaque', '"x":', { status: 206 }).shortfall).toBe(null);
    expect(announced('chat-completions', '', { status: 502 }).shortfall).toBe(null);
  });

  test.each([
    '[Music] Hello there.\n',
    '{unintelligible} Hello there.\n',
    '[1] Hello [2] there.',
    'data: the toll is 5.\n\nevent: none.\n',
    'data: 5\n\n',
    ': a pause.\n',
  ])('is not what a transcript is that only begins as one: %j', (text) => {
    for (const contentType of ['text/plain; charset=utf-8', '', null])
      expect(verdict(read('transcriptions', text, { contentType }))).toEqual({ ...WHOLE, terminal: false });
    // Where it was announced, it is broken.
    expect(verdict(read('transcriptions', text, { contentType: JSON_TYPE })).shortfall).not.toBeNull();
    expect(verdict(read('transcriptions', text, { contentType: SSE })).shortfall).not.toBeNull();
  });

  test('and is mislabelled is read all the same', () => {
    const contentType = 'text/plain';
    const stream = events({ type: 'transcript.text.delta', delta: 'Hello' });
    expect(verdict(read('transcriptions', stream, { contentType }))).toEqual(SHORT);
    const json = '{"text":"Hello","usage":{"type":"duration","seconds":2}}';
    expect(read('transcriptions', json, { contentType }).usage?.classes).toEqual({ input_audio_ms: 2000 });
    expect(verdict(read('chat-completions', '{"id":"x","choices":[{', { contentType })).shortfall).toBe('not_json');
  });

  test('a page where an answer was to be is remarked, whatever it says it is', () => {
    expect(verdict(read('messages', '<html>', { contentType: 'text/html' }))).toEqual(REMARKED);
    expect(verdict(read('speech', 'ID3', { contentType: 'audio/mpeg' })).flags).toEqual([]);
  });
});
