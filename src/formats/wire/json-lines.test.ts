import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createJsonLineSplitter } from './json-lines.ts';
import { LARGE_JSON_BYTES } from './json-unit.ts';

function readAll(pieces: readonly Buffer[]): string[] {
  const lines: string[] = [];
  const splitter = createJsonLineSplitter(
    (line) => lines.push(line.toString()),
    () => lines.push('unread'),
  );
  for (const piece of pieces) splitter.push(piece);
  splitter.finish();
  return lines;
}

function slice(body: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(body.length / size) }, (_, i) => body.subarray(i * size, (i + 1) * size));
}

describe('JSON lines are read one value a line', () => {
  test.each([
    ['LF line ends', '{"a":1}\n{"b":2}\n', ['{"a":1}', '{"b":2}']],
    ['CRLF line ends', '{"a":1}\r\n{"b":2}\r\n', ['{"a":1}', '{"b":2}']],
    ['a last line without an end', '{"a":1}\n{"b":2}', ['{"a":1}', '{"b":2}']],
    ['a last line that is cut', '{"a":1}\n{"b":', ['{"a":1}', '{"b":']],
    ['blank lines', '\n\r\n  \n{"a":1}\n\n\t\n', ['{"a":1}']],
    ['a byte order mark', '\uFEFF{"a":1}\n', ['{"a":1}']],
    ['line separators of Unicode and escaped ends inside a value', '{"a":"\u2028\\n"}\n', ['{"a":"\u2028\\n"}']],
    ['nothing at all', '', []],
  ])('%s, at every cut', (_, text, expected) => {
    const input = Buffer.from(text);
    const cuts = Array.from({ length: input.length + 1 }, (_, at) => [input.subarray(0, at), input.subarray(at)]);
    for (const pieces of [[input], ...cuts, slice(input, 1)]) expect(readAll(pieces)).toEqual(expected);
  });

  test('any lines read the same however they are cut', () => {
    const line = fc.constantFrom('{"a":"b"}', '[]', '1', '', ' ', '{"long":"xxxxxxxxxxxxxxxxxxxxxxxx"}');
    const end = fc.constantFrom('\n', '\r\n');
    const stream = fc.array(fc.tuple(line, end), { maxLength: 20 }).map((lines) => lines.flat().join(''));
    fc.assert(
      fc.property(stream, fc.integer({ min: 1, max: 40 }), (text, size) => {
        expect(readAll(slice(Buffer.from(text), size))).toEqual(readAll([Buffer.from(text)]));
      }),
    );
  });

  test.each([1024 * 1024, 64 * 1024, 999])(
    'a large line is given out thinner, and one that is no JSON is not, in pieces of %i bytes',
    (size) => {
      const large = 'x'.repeat(4_000_000);
      const body = Buffer.from(`{"a":1}\n{"b":"${large}","d":2}\n${large}\n\n{"c":3}\n`);
      const thinner = `{"b":"${'x'.repeat(4_096)}","d":2}`;
      expect(readAll(slice(body, size))).toEqual(['{"a":1}', thinner, 'unread', '{"c":3}']);
      expect(readAll([body])).toEqual(['{"a":1}', thinner, 'unread', '{"c":3}']);
    },
  );

  test('an endless line holds no more than what is gathered of one', () => {
    const splitter = createJsonLineSplitter(
      () => {},
      () => {},
    );
    const piece = Buffer.alloc(64 * 1024, 'x');
    let most = 0;
    for (let sent = 0; sent < 12_000_000; sent += piece.length) {
      splitter.push(piece);
      most = Math.max(most, splitter.bufferedBytes);
    }
    expect(most).toBeLessThanOrEqual(LARGE_JSON_BYTES);
    expect(splitter.bufferedBytes).toBe(0);
  });
});
