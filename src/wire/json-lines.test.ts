import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createJsonLineSplitter, MAX_LINE_BYTES } from './json-lines.ts';

function readAll(pieces: readonly Buffer[]): string[] {
  const lines: string[] = [];
  const splitter = createJsonLineSplitter(
    (line) => lines.push(line.toString()),
    () => lines.push('skipped'),
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

  test.each([1024 * 1024, 64 * 1024, 999])('a line over the limit is skipped once, in pieces of %i bytes', (size) => {
    const body = Buffer.from(`{"a":1}\n{"b":"${'x'.repeat(MAX_LINE_BYTES)}"}\n{"c":3}\n`);
    expect(readAll(slice(body, size))).toEqual(['{"a":1}', 'skipped', '{"c":3}']);
    expect(readAll([body])).toEqual(['{"a":1}', 'skipped', '{"c":3}']);
  });

  test('an endless line holds no more than the limit', () => {
    const splitter = createJsonLineSplitter(
      () => {},
      () => {},
    );
    const piece = Buffer.alloc(64 * 1024, 'x');
    let most = 0;
    for (let sent = 0; sent < 3 * MAX_LINE_BYTES; sent += piece.length) {
      splitter.push(piece);
      most = Math.max(most, splitter.bufferedBytes);
    }
    expect(most).toBeLessThanOrEqual(MAX_LINE_BYTES);
    expect(splitter.bufferedBytes).toBe(0);
  });
});
