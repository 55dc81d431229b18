import { expect, test } from 'vitest';
import { cutText, decodeBody, formatHex } from './body-text.ts';

test('a long text is cut with the number of what is hidden, never inside a character', () => {
  expect(cutText('x'.repeat(10_000_000), 1_000)).toEqual({ text: 'x'.repeat(1_000), hiddenCharacters: 9_999_000 });
  expect(cutText('a🎌b', 2)).toEqual({ text: 'a', hiddenCharacters: 3 });
  expect(cutText('abc', 3)).toEqual({ text: 'abc', hiddenCharacters: 0 });
});

test('bytes that are no text are marked', () => {
  expect(decodeBody(Uint8Array.of(0x61, 0xff))).toEqual({ text: 'a\uFFFD', isExact: false });
  expect(decodeBody(Uint8Array.of(0x61))).toEqual({ text: 'a', isExact: true });
});

test('bytes are written as hexadecimal lines', () => {
  expect(formatHex(new TextEncoder().encode('{"a":1}\n0123456789'), 17)).toBe(
    '00000000  7b 22 61 22 3a 31 7d 0a 30 31 32 33 34 35 36 37  {"a":1}.01234567\n00000010  38                                               8',
  );
});
