/** What the tap reads of answers: server-sent events, AWS event streams, JSON arrays and lines, by every format's reader. */
import fc from 'fast-check';
import { USAGE_FORMATS } from '../../../src/formats/usage/registry.ts';
import { createUsageReader } from '../../../src/formats/usage/usage-reader.ts';
import { createAwsEventStreamDecoder, MAX_FRAME_BYTES } from '../../../src/formats/wire/aws-event-stream.ts';
import { MAX_KEPT_BYTES } from '../../../src/formats/wire/json-thinner.ts';
import { createSseSplitter } from '../../../src/formats/wire/sse.ts';
import type { ReportedUsage } from '../../../src/vocabulary/token-usage.ts';
import { type Fixture, listFixtures } from '../../support/fixtures.ts';
import { type Cuts, cutInto, cuts, mutated, pick } from '../bytes.ts';
import { createTarget, type FuzzTarget, must, mustEqual } from '../check.ts';
import { readSseByRule } from './read-sse-by-rule.ts';

/** Larger ones are the same again, and take the time of many small ones. */
const LARGEST_SEED_BYTES = 6_000;
const FORMAT_LIST = Object.values(USAGE_FORMATS);

const FIXTURES = listFixtures().filter(({ body }) => body.length > 0 && body.length <= LARGEST_SEED_BYTES);
const contentTypeOf = ({ headers }: Fixture): string => headers['content-type'] ?? '';
const EVENT_STREAMS = FIXTURES.filter((fixture) => contentTypeOf(fixture).startsWith('text/event-stream'));
const FRAMES = FIXTURES.filter((fixture) => contentTypeOf(fixture).startsWith('application/vnd.amazon.eventstream'));
const WHOLE = FIXTURES.filter((fixture) => !EVENT_STREAMS.includes(fixture) && !FRAMES.includes(fixture));
const bodies = (fixtures: readonly Fixture[]): Buffer[] => fixtures.map(({ body }) => body);

const SSE_TOKENS = [
  '\r',
  '\n',
  '\r\n',
  '\n\n',
  '\r\n\r\n',
  '\r\r',
  ':',
  ': ping\n\n',
  'data',
  'data:',
  'data: ',
  'data\n\n',
  'event: error\n',
  'event:\n',
  'id: 1\n',
  'retry: 1\n',
  'data: [DONE]\n\n',
  'data: {"usage":null}\n\n',
  '\xef\xbb\xbf',
  '"usage":',
  '{"error":{"message":"x"}}',
  '\\u0000',
  '\xff',
  '"',
  '}',
  '{',
  '[',
  ']',
  '-1',
  '1e309',
  'null',
  '\0',
];
const JSON_TOKENS = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  'null',
  'true',
  '-1',
  '1e309',
  '\n',
  '\xff',
  '"usage":{',
  ' ',
];
const FRAME_TOKENS = [Buffer.alloc(4), Buffer.alloc(12), Buffer.from([0, 0, 0, 16]), Buffer.from([255, 255, 255, 255])];

interface Answer {
  readonly bytes: Buffer;
  readonly format: number;
  readonly status: number;
  readonly contentType: string;
}

function readAll({ bytes, format, status, contentType }: Answer, pieces: readonly Buffer[], isComplete: boolean) {
  const reader = createUsageReader({
    format: pick(FORMAT_LIST, format) ?? USAGE_FORMATS.opaque,
    status,
    contentType,
    contentEncoding: null,
    header: () => null,
  });
  for (const piece of pieces) {
    reader.push(piece);
    must(reader.bufferedBytes <= bytes.length, 'no more is held than came');
  }
  const readings: ReportedUsage[] = [];
  reader.finish(isComplete, (reported) => readings.push(reported));
  reader.finish(isComplete, (reported) => readings.push(reported));
  must(readings.length === 1, 'the end is told once, and at once');
  return { reported: readings[0], sawContent: reader.sawContent };
}

function checkReading([answer, where, isComplete]: readonly [Answer, Cuts, boolean]): void {
  const before = Buffer.from(answer.bytes);
  const whole = readAll(answer, [answer.bytes], isComplete);
  must(answer.bytes.equals(before), 'the bytes are only read');
  mustEqual(
    readAll(answer, cutInto(answer.bytes, where), isComplete),
    whole,
    'readings of the same bytes, cut differently',
  );
  for (const tokens of Object.values(whole.reported?.usage?.classes ?? {}))
    must(Number.isSafeInteger(tokens) && tokens >= 0, 'a count is a count');
}

function answers(seeds: readonly Fixture[], tokens: readonly (Buffer | string)[], types: readonly string[]) {
  return fc.record({
    bytes: mutated(bodies(seeds), tokens),
    format: fc.nat(1_000),
    status: fc.constantFrom(200, 200, 200, 429),
    contentType: fc.constantFrom(...types),
  });
}

function checkSse([bytes, where]: readonly [Buffer, Cuts]): void {
  const read = (pieces: readonly Buffer[]) => {
    const events: (readonly [string | null, string])[] = [];
    let skipped = 0;
    const splitter = createSseSplitter(
      (type, data) => events.push([type, data.toString('latin1')]),
      () => {
        skipped += 1;
      },
    );
    for (const piece of pieces) {
      splitter.push(piece);
      must(splitter.bufferedBytes <= MAX_KEPT_BYTES, 'what is held is bounded');
    }
    splitter.finish();
    return { events, skipped };
  };
  const { events, skipped } = read(cutInto(bytes, where));
  must(skipped === 0, 'none of these is too large');
  mustEqual(events, readSseByRule(bytes), 'events as read and as the rule says');
}

function checkFrames([bytes, where]: readonly [Buffer, Cuts]): void {
  const read = (pieces: readonly Buffer[]) => {
    const found: unknown[] = [];
    const decoder = createAwsEventStreamDecoder(
      ({ payload, ...frame }) => found.push({ ...frame, payload: payload.toString('latin1') }),
      (problem) => found.push(problem),
    );
    for (const piece of pieces) {
      decoder.push(piece);
      must(decoder.bufferedBytes <= MAX_FRAME_BYTES, 'what is held is bounded');
    }
    return found;
  };
  mustEqual(read(cutInto(bytes, where)), read([bytes]), 'frames of the same bytes, cut differently');
}

const JSON_TYPES = ['application/json', 'application/json; charset=utf-8', 'application/x-jsonl', 'text/plain', ''];

export const STREAM_TARGETS: readonly FuzzTarget[] = [
  createTarget('sse: events by the rule', 1, fc.tuple(mutated(bodies(EVENT_STREAMS), SSE_TOKENS), cuts), checkSse),
  createTarget(
    'sse: usage, every format',
    1,
    fc.tuple(
      answers(EVENT_STREAMS, SSE_TOKENS, ['text/event-stream', 'Text/Event-Stream;charset=utf-8']),
      cuts,
      fc.boolean(),
    ),
    checkReading,
  ),
  createTarget('event stream: frames', 1, fc.tuple(mutated(bodies(FRAMES), FRAME_TOKENS), cuts), checkFrames),
  createTarget(
    'event stream: usage, every format',
    1,
    fc.tuple(answers(FRAMES, FRAME_TOKENS, ['application/vnd.amazon.eventstream']), cuts, fc.boolean()),
    checkReading,
  ),
  createTarget(
    'json: usage, every format',
    0.2,
    fc.tuple(answers(WHOLE, JSON_TOKENS, JSON_TYPES), cuts, fc.boolean()),
    checkReading,
  ),
];
