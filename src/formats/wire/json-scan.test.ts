import fc from 'fast-check';
import { expect, test } from 'vitest';
import { endOfString, endOfValue, skipSpace } from './json-scan.ts';

test('the end of any string is found, whatever quotes and backslashes it has', () => {
  const text = fc.array(fc.constantFrom('"', '\\', 'a', '{', ']', '你', '\n', 'x'.repeat(40)), { maxLength: 40 });
  fc.assert(
    fc.property(text, (parts) => {
      const json = Buffer.from(`${JSON.stringify(parts.join(''))},"next"`);
      expect(endOfString(json, 0)).toBe(json.length - ',"next"'.length);
      expect(endOfValue(json, 0)).toBe(json.length - ',"next"'.length);
    }),
  );
});

test.each(['"abc', '"abc\\', '"abc\\"', `"${'x'.repeat(50)}\\"`, '"', `"${'x'.repeat(50)}\\`])('%j is cut', (text) => {
  expect(endOfString(Buffer.from(text), 0)).toBe(-1);
});

test.each([
  ['{"a":["}",{}]},1', 14],
  ['[[],[[]]] ', 9],
  ['true,', 4],
  ['-1.5E+3}', 7],
  ['12', -1],
  ['[1,2', -1],
  ['{"a":"b', -1],
  [',', -1],
  ['', -1],
])('the value at the head of %j ends at %i', (text, end) => {
  expect(endOfValue(Buffer.from(text), 0)).toBe(end);
});

test('white space is stepped over', () => {
  expect(skipSpace(Buffer.from('a \t\r\n b'), 1)).toBe(6);
});
