import { expect, test } from 'vitest';
import { askForUsage } from './ask-usage.ts';

test.each([
  ['{"model":"m","stream":true}', '{"stream_options":{"include_usage":true},"model":"m","stream":true}'],
  [' {\n  "stream" : true\n}\n', ' {"stream_options":{"include_usage":true},\n  "stream" : true\n}\n'],
  ['{"stream":true,"stream_options":null,"n":1}', '{"stream":true,"stream_options":{"include_usage":true},"n":1}'],
  ['{"stream":true,"stream_options":{}}', '{"stream":true,"stream_options":{"include_usage":true}}'],
  [
    '{"stream_options": { "include_obfuscation":false},"stream":true}',
    '{"stream_options": {"include_usage":true, "include_obfuscation":false},"stream":true}',
  ],
  ['{"\\u0073tream":true}', '{"stream_options":{"include_usage":true},"\\u0073tream":true}'],
  [
    '{"stream":true,"messages":[{"stream_options":1,"content":"\\"stream_options\\": 你好"}]}',
    '{"stream_options":{"include_usage":true},"stream":true,"messages":[{"stream_options":1,"content":"\\"stream_options\\": 你好"}]}',
  ],
])('a streamed request %j is asked, and every other byte stays', (text, expected) => {
  const { body, asked, reason } = askForUsage(Buffer.from(text));
  expect(body.toString()).toBe(expected);
  expect({ asked, reason }).toEqual({ asked: true, reason: null });
  expect(() => JSON.parse(body.toString())).not.toThrow();
});

test.each([
  ['{"model":"m"}', 'not_streamed'],
  ['{"stream":false}', 'not_streamed'],
  ['{"stream":"true"}', 'not_streamed'],
  ['{"messages":[{"stream":true}]}', 'not_streamed'],
  ['{"stream":true,"stream_options":{"include_usage":true}}', 'says_itself'],
  ['{"stream":true,"stream_options":{"include_usage":false}}', 'says_itself'],
  ['{"stream":true,"stream_options":{"include_usage":null}}', 'ambiguous'],
  ['{"stream":true,"stream_options":[]}', 'ambiguous'],
  ['{"stream":true,"stream_options":"x"}', 'ambiguous'],
  ['{"stream":true,"stream":false}', 'ambiguous'],
  ['{"stream":true,"stream_options":{},"stream_options":null}', 'ambiguous'],
  ['{"stream":true', 'not_json'],
  ['{"stream":true} x', 'not_json'],
  ['{"stream":true,}', 'not_json'],
  ['[{"stream":true}]', 'not_json'],
  ['stream=true', 'not_json'],
  ['', 'not_json'],
])('%j is left as it is: %s', (text, reason) => {
  const input = Buffer.from(text);
  const result = askForUsage(input);
  expect(result).toEqual({ body: input, asked: false, reason });
  expect(result.body).toBe(input);
});

test('a body of 32 MiB of base64 is asked', () => {
  const image = 'A'.repeat(32 * 1024 * 1024);
  const { body, asked } = askForUsage(Buffer.from(`{"messages":[{"image":"${image}"}],"stream":true}`));
  expect(asked).toBe(true);
  expect(body.toString('latin1', 0, 60)).toBe('{"stream_options":{"include_usage":true},"messages":[{"image');
});
