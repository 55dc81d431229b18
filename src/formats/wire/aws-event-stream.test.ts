import { EventStreamCodec } from '@smithy/eventstream-codec';
import { describe, expect, test } from 'vitest';
import { type AwsFrame, createAwsEventStreamDecoder, type FrameProblem, MAX_FRAME_BYTES } from './aws-event-stream.ts';

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text),
);

function frame(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const typed = Object.entries(headers).map(([name, value]) => [name, { type: 'string' as const, value }] as const);
  return Buffer.from(codec.encode({ headers: Object.fromEntries(typed), body: Buffer.from(payload) }));
}

function readAll(pieces: readonly Buffer[]): string[] {
  const seen: string[] = [];
  const decoder = createAwsEventStreamDecoder(
    ({ messageType, type, errorMessage, payload }: AwsFrame) =>
      seen.push(`${messageType}|${type}|${errorMessage}|${payload.toString()}`),
    (problem: FrameProblem) => seen.push(problem),
  );
  for (const piece of pieces) decoder.push(piece);
  return seen;
}

const START = frame({ ':message-type': 'event', ':event-type': 'messageStart' }, '{"role":"assistant"}');
const METADATA = frame({ ':message-type': 'event', ':event-type': 'metadata' }, '{"usage":{"inputTokens":3}}');
const EXCEPTION = frame({ ':message-type': 'exception', ':exception-type': 'throttlingException' }, '{"message":"x"}');
const ERROR = frame({ ':message-type': 'error', ':error-code': 'InternalFailure', ':error-message': 'no' }, '');

const EXPECTED = [
  'event|messageStart|null|{"role":"assistant"}',
  'event|metadata|null|{"usage":{"inputTokens":3}}',
  'exception|throttlingException|null|{"message":"x"}',
  'error|InternalFailure|no|',
];

describe('frames of an AWS event stream', () => {
  test('are read the same at every cut, also inside the prelude', () => {
    const input = Buffer.concat([START, METADATA, EXCEPTION, ERROR]);
    for (let at = 0; at <= input.length; at += 1) {
      expect(readAll([input.subarray(0, at), input.subarray(at)])).toEqual(EXPECTED);
    }
    expect(readAll(Array.from(input, (byte) => Buffer.from([byte])))).toEqual(EXPECTED);
  });

  test('that AWS itself encoded are understood', () => {
    const hex =
      '0000009400000057b4ab9aee0b3a6576656e742d74797065070011636f6e74656e74426c6f636b44656c74610d3a636f6e74656e742d74797065' +
      '0700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700056576656e747b22636f6e74656e74426c6f636b496e64' +
      '6578223a302c2264656c7461223a7b2274657874223a226869227d7dde556953';
    expect(readAll([Buffer.from(hex, 'hex')])).toEqual([
      'event|contentBlockDelta|null|{"contentBlockIndex":0,"delta":{"text":"hi"}}',
    ]);
  });

  test('with a flipped bit in the payload are reported, and the next ones are read', () => {
    const broken = Buffer.from(METADATA);
    broken[broken.length - 8] = (broken[broken.length - 8] ?? 0) ^ 1;
    expect(readAll([Buffer.concat([START, broken, EXCEPTION])])).toEqual([EXPECTED[0], 'undecodable', EXPECTED[2]]);
  });

  test('after a broken prelude are not looked for', () => {
    const broken = Buffer.from(METADATA);
    broken[3] = (broken[3] ?? 0) ^ 1;
    expect(readAll([START, broken, EXCEPTION])).toEqual([EXPECTED[0], 'undecodable']);
  });

  test('over the limit are skipped without being held', () => {
    const large = frame({ ':message-type': 'event', ':event-type': 'contentBlockDelta' }, 'x'.repeat(MAX_FRAME_BYTES));
    const input = Buffer.concat([START, large, METADATA]);
    const pieces = Array.from({ length: 66 }, (_, index) => input.subarray(index * 65_536, (index + 1) * 65_536));
    expect(readAll(pieces)).toEqual([EXPECTED[0], 'too-large', EXPECTED[1]]);
    expect(readAll([input])).toEqual([EXPECTED[0], 'too-large', EXPECTED[1]]);
  });
});
