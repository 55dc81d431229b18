import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createJsonArraySplitter } from './json-array.ts';

function readAll(pieces: readonly Buffer[]): string[] {
  const seen: string[] = [];
  const splitter = createJsonArraySplitter(
    (element) => seen.push(element.toString()),
    () => seen.push('unread'),
  );
  for (const piece of pieces) splitter.push(piece);
  if (splitter.closed) seen.push('closed');
  return seen;
}

const SAMPLE = '\n [{\n "a": "x\\"]}{[\\\\",\r\n "b": {"c": [1, 2]}\n},\n {"d":"你好"} , [3]\n]\n';
const EXPECTED = ['{\n "a": "x\\"]}{[\\\\",\r\n "b": {"c": [1, 2]}\n}', '{"d":"你好"}', '[3]', 'closed'];

test('the elements of a streamed array are found at every cut', () => {
  const input = Buffer.from(SAMPLE);
  for (let at = 0; at <= input.length; at += 1) {
    expect(readAll([input.subarray(0, at), input.subarray(at)])).toEqual(EXPECTED);
  }
  expect(readAll(Array.from(input, (byte) => Buffer.from([byte])))).toEqual(EXPECTED);
});

test('the elements of an array that was cut are those that were whole', () => {
  expect(readAll([Buffer.from('[{"a":1},{"b":2},{"c":')])).toEqual(['{"a":1}', '{"b":2}']);
});

test('any array of objects gives its elements, whatever their text and however it is cut', () => {
  const element = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.jsonValue()));
  fc.assert(
    fc.property(fc.array(element, { maxLength: 5 }), fc.nat(), fc.boolean(), (elements, cut, pretty) => {
      const input = Buffer.from(JSON.stringify(elements, null, pretty ? 2 : 0));
      const at = cut % (input.length + 1);
      const seen = readAll([input.subarray(0, at), input.subarray(at)]);
      expect(seen.pop()).toBe('closed');
      expect(seen.map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(elements)));
    }),
  );
});

test('a large element is given out thinner, with what stands behind the large of it', () => {
  const large = `{"image":"${'A'.repeat(5_000_000)}","usage":{"total":7}}`;
  const input = Buffer.from(`[{"a":1},${large},{"b":2}]`);
  const pieces = Array.from({ length: 6 }, (_, index) => input.subarray(index * 1_000_000, (index + 1) * 1_000_000));
  const thinner = `{"image":"${'A'.repeat(4_096)}","usage":{"total":7}}`;
  expect(readAll(pieces)).toEqual(['{"a":1}', thinner, '{"b":2}', 'closed']);
});
