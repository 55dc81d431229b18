import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSseSplitter } from './sse.ts';

function readAll(pieces: readonly Buffer[]): string[] {
  const events: string[] = [];
  const splitter = createSseSplitter(
    (eventType, data) => events.push(`${eventType ?? '-'}|${data.toString()}`),
    () => events.push('unread'),
  );
  for (const piece of pieces) splitter.push(piece);
  splitter.finish();
  return events;
}

/** The input whole, cut once at every byte, and byte by byte. */
function allCuts(input: Buffer): Buffer[][] {
  const cuts = Array.from({ length: input.length + 1 }, (_, at) => [input.subarray(0, at), input.subarray(at)]);
  return [[input], ...cuts, Array.from(input, (byte) => Buffer.from([byte]))];
}

describe('an event stream is read by the rules of the WHATWG', () => {
  test.each([
    ['LF line ends', 'data: a\n\ndata: b\n\n', ['-|a', '-|b']],
    ['CRLF line ends', 'data: a\r\n\r\ndata: b\r\n\r\n', ['-|a', '-|b']],
    ['CR line ends', 'data: a\r\rdata: b\r\r', ['-|a', '-|b']],
    ['mixed line ends', 'data: a\r\n\ndata: b\n\r\ndata: c\r\n\rdata: d\n\n', ['-|a', '-|b', '-|c', '-|d']],
    ['no space after the colon', 'data:{"a":1}\n\nevent:x\ndata:y\n\n', ['-|{"a":1}', 'x|y']],
    ['only one space is taken off', 'data:  a\n\n', ['-| a']],
    ['several data lines', 'data: {"a":\ndata: 1}\n\n', ['-|{"a":\n1}']],
    ['an empty data line', 'data\ndata:\n\n', ['-|\n']],
    ['comments, before and between', ': first\n\ndata: a\n\n: keep-alive\n\ndata: b\n: within\n\n', ['-|a', '-|b']],
    ['a byte order mark', '\uFEFFdata: a\n\n', ['-|a']],
    ['other fields', 'id: 7\nretry: 10\nevent: x\ndata: a\ndatum: b\n\n', ['x|a']],
    ['an event without data', 'event: ping\n\ndata: a\n\n', ['-|a']],
    ['blank lines before the first event', '\n\n\r\n\ndata: a\n\n', ['-|a']],
    ['no final blank line', 'data: a\n\ndata: b', ['-|a', '-|b']],
    ['no final line end after an event type', 'event: message_stop\ndata: b\n', ['message_stop|b']],
    ['text of several bytes a character', 'data: 你好🌍\n\n', ['-|你好🌍']],
  ])('%s, at every cut', (_, text, expected) => {
    for (const pieces of allCuts(Buffer.from(text))) expect(readAll(pieces)).toEqual(expected);
  });
});

test('any stream of any line ends reads the same however it is cut', () => {
  const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
  const line = fc.constantFrom('data: {"a":"b"}', 'data:x', 'event: e', ': c', 'data', 'id: 1', '');
  const stream = fc.array(fc.tuple(line, lineEnd), { maxLength: 24 }).map((lines) => lines.flat().join(''));
  fc.assert(
    fc.property(stream, fc.array(fc.nat({ max: 200 }), { maxLength: 6 }), (text, cuts) => {
      const input = Buffer.from(text);
      const places = [0, ...cuts.map((cut) => cut % (input.length + 1)).sort((a, b) => a - b), input.length];
      const pieces = places.slice(1).map((to, index) => input.subarray(places[index], to));
      expect(readAll(pieces)).toEqual(readAll([input]));
    }),
  );
});

test('a large event that is no JSON is reported once, and the next one is read', () => {
  const large = Buffer.from(`data: ${'x'.repeat(4_000_000)}\n\n`);
  const next = Buffer.from('data: next\n\n');
  const pieces = Array.from({ length: 9 }, (_, index) => large.subarray(index * 500_000, (index + 1) * 500_000));
  expect(readAll([...pieces, next])).toEqual(['unread', '-|next']);
  expect(readAll([Buffer.concat([large, next])])).toEqual(['unread', '-|next']);
});

test.each(['\n', '\r\n', '\r'])('a large event is read thinner, with its type, wherever its lines end by %j', (end) => {
  const text = 'x'.repeat(2_000_000);
  const lines = ['id: 1', 'event: done', `data: {"text":"${text}",`, 'data: "usage":{"total":7}}', `: ${text}`, '', ''];
  const input = Buffer.from(`${lines.join(end)}data: next${end}${end}`);
  const expected = [`done|{"text":"${'x'.repeat(4_096)}","usage":{"total":7}}`, '-|next'];
  for (const size of [65_536, 100_003, 1_999_999, input.length]) {
    const pieces = Array.from({ length: Math.ceil(input.length / size) }, (_, index) =>
      input.subarray(index * size, (index + 1) * size),
    );
    expect([size, readAll(pieces)]).toEqual([size, expected]);
  }
});

test('millions of blank lines are quickly nothing, and what follows them is an event', () => {
  for (const blank of ['\n', '\r\n', '\r']) {
    const input = Buffer.from(`${blank.repeat(2_000_000)}data: next${blank}${blank}`);
    const pieces = [input.subarray(0, 1_000_001), input.subarray(1_000_001, 1_000_002), input.subarray(1_000_002)];
    expect(readAll(pieces)).toEqual(['-|next']);
  }
});

test('the data of an event that lies in one chunk is a slice of that chunk', () => {
  const chunk = Buffer.from('data: abc\n\n');
  const splitter = createSseSplitter(
    (_, data) => expect(data.buffer === chunk.buffer && data.byteOffset === chunk.byteOffset + 6).toBe(true),
    () => {},
  );
  splitter.push(chunk);
  expect.assertions(1);
});
