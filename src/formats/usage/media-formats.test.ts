/** Images and audio: what is billed by tokens, by the picture and by the minute. */
import { describe, expect, test } from 'vitest';
import type { UsageFormatName } from '../../providers/format-names.ts';
import type { JsonObject, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { USAGE_FORMATS } from './registry.ts';
import { NOTHING_REPORTED } from './reported-usage.ts';

const ONE_TOKEN = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };

function read(format: UsageFormatName, body: JsonObject): ReportedUsage {
  return USAGE_FORMATS[format].readJson(body, NOTHING_REPORTED);
}

describe('pictures', () => {
  const usage = {
    input_tokens: 350,
    input_tokens_details: { text_tokens: 50, image_tokens: 300 },
    output_tokens: 4160,
    total_tokens: 4510,
  };

  test.each<[string, JsonObject, object]>([
    [
      'by tokens',
      { data: [{ b64_json: 'AAAA' }], usage },
      { input: 50, input_image: 300, output: 0, output_image: 4160 },
    ],
    [
      'by tokens, with text among the output',
      {
        data: [{ b64_json: 'AAAA' }],
        usage: { ...usage, output_tokens_details: { text_tokens: 60, image_tokens: 4100 } },
      },
      { input: 50, input_image: 300, output: 60, output_image: 4100 },
    ],
    [
      'by the picture, where no tokens are reported',
      { created: 1, data: [{ url: 'https://a' }, { url: 'https://b' }] },
      { output_images: 2 },
    ],
  ])('%s', (_, body, classes) => {
    const reported = read('images', body);
    expect(reported.usage?.classes).toEqual(classes);
    expect(reported.flags).toEqual([]);
  });

  test('a drawing is written by another model', () => {
    const svg_usage = {
      model: 'gpt-6-astra',
      input_tokens: 9,
      output_tokens: 700,
      reasoning_tokens: 20,
      total_tokens: 709,
    };
    expect(read('images', { data: [{}], usage, svg_usage }).usage).toEqual({
      classes: { input: 50, input_image: 300, output: 0, output_image: 4160 },
      reasoning: null,
      others: [{ purpose: 'svg', model: 'gpt-6-astra', classes: { input: 9, output: 700 } }],
      native: { ...usage, svg_usage },
    });
  });

  test('a partial picture is not the end of a stream, the finished one is', () => {
    const partial = { type: 'image_edit.partial_image', b64_json: 'AAAA', partial_image_index: 0 };
    const before = USAGE_FORMATS.images.readEvent(partial.type, partial, NOTHING_REPORTED);
    expect(before).toEqual(NOTHING_REPORTED);
    const done = { type: 'image_edit.completed', b64_json: 'AAAA', usage };
    expect(USAGE_FORMATS.images.readEvent(done.type, done, before)).toMatchObject({
      terminal: true,
      usage: { native: usage },
    });
  });
});

describe('sound', () => {
  test.each<[string, UsageFormatName, JsonObject, object]>([
    [
      'a transcription by tokens',
      'transcriptions',
      {
        usage: {
          type: 'tokens',
          input_tokens: 1400,
          input_token_details: { text_tokens: 20, audio_tokens: 1380 },
          output_tokens: 310,
          total_tokens: 1710,
        },
      },
      { input: 20, input_audio: 1380, output: 310 },
    ],
    ['by duration', 'transcriptions', { usage: { type: 'duration', seconds: 125 } }, { input_audio_ms: 125_000 }],
    ['no sound at all', 'transcriptions', { usage: { type: 'duration', seconds: 0 } }, { input_audio_ms: 0 }],
    [
      'half a millisecond, although the float is a little less',
      'transcriptions',
      { usage: { type: 'duration', seconds: 1.0005 } },
      { input_audio_ms: 1001 },
    ],
    ['less than that', 'transcriptions', { usage: { type: 'duration', seconds: 2.0004 } }, { input_audio_ms: 2000 }],
    ['next to nothing', 'transcriptions', { usage: { type: 'duration', seconds: 1e-7 } }, { input_audio_ms: 0 }],
    ['a length without usage, by the second begun', 'transcriptions', { duration: 8.47 }, { input_audio_ms: 9000 }],
    [
      'usage beside a length',
      'transcriptions',
      { duration: 8.47, usage: { type: 'duration', seconds: 9 } },
      { input_audio_ms: 9000 },
    ],
    [
      'speech, whose output is sound',
      'speech',
      { usage: { input_tokens: 14, output_tokens: 101, total_tokens: 115 } },
      { input: 14, output_audio: 101 },
    ],
  ])('%s', (_, format, body, classes) => {
    const reported = read(format, body);
    expect(reported.usage?.classes).toEqual(classes);
    expect(reported.flags).toEqual([]);
  });

  test.each<[UsageFormatName, string]>([
    ['transcriptions', 'transcript.text.done'],
    ['speech', 'speech.audio.done'],
    ['images', 'image_generation.completed'],
  ])('a stream of %s that reports nothing still ends', (format, type) => {
    expect(USAGE_FORMATS[format].mayMatter(Buffer.from(JSON.stringify({ type })))).toBe(true);
    expect(USAGE_FORMATS[format].readEvent(null, { type }, NOTHING_REPORTED)).toEqual({
      ...NOTHING_REPORTED,
      terminal: true,
    });
  });

  test.each<UsageFormatName>(['transcriptions', 'speech', 'images'])(
    'an error within a stream of %s is read',
    (format) => {
      const wrapped = { type: 'error', error: { type: 'server_error', message: 'oops' } };
      const bare = { type: 'error', code: 'server_error', message: 'oops' };
      for (const event of [wrapped, bare])
        expect(USAGE_FORMATS[format].readEvent('error', event, NOTHING_REPORTED)).toMatchObject({
          error: { type: 'server_error', message: 'oops' },
          terminal: false,
        });
    },
  );
});

test('a stream of several pictures has the count of the last one, and says that it is not all', () => {
  const input_tokens_details = { text_tokens: 50, image_tokens: 0 };
  const usage = { input_tokens: 50, input_tokens_details, output_tokens: 1000, total_tokens: 1050 };
  const done = { type: 'image_generation.completed', b64_json: 'AAAA', usage };
  const one = USAGE_FORMATS.images.readEvent(null, done, NOTHING_REPORTED);
  expect(one.usage?.isIncomplete).toBeUndefined();
  expect(USAGE_FORMATS.images.readEvent(null, done, one).usage?.isIncomplete).toBe(true);
});

test.each<[string, JsonObject, boolean]>([
  ['no split', {}, true],
  ['an empty split', { input_tokens_details: {} }, true],
  ['only what was cached', { input_tokens_details: { cached_tokens: 9 } }, true],
  ['its text', { input_tokens_details: { text_tokens: 50 } }, false],
  ['its pictures', { input_tokens_details: { image_tokens: 40 } }, false],
])('input of an image model with %s: its price is not known %s', (_, details, isIncomplete) => {
  const usage = { input_tokens: 50, output_tokens: 1000, ...details };
  expect(read('images', { usage }).usage?.isIncomplete ?? false).toBe(isIncomplete);
  expect(read('responses', { usage: ONE_TOKEN, tool_usage: { image_gen: usage } }).usage?.isIncomplete ?? false).toBe(
    isIncomplete,
  );
});

test('a drawing that reports half of its tokens: its price is not known', () => {
  const svg_usage = { model: 'gpt-5', input_tokens: 50 };
  expect(read('images', { svg_usage }).usage?.isIncomplete).toBe(true);
  expect(read('responses', { usage: ONE_TOKEN, output: [{ svg_usage }] }).usage?.isIncomplete).toBe(true);
});
