import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createGatewayKey, digestKey, isWellFormedKey, keyHints } from './gateway-key.ts';

/** 32 zero bytes, without their checksum. */
const ZERO_KEY = `tgk_${'0'.repeat(43)}`;

test('a new key is tgk_ and 49 base62 characters, well-formed, and never the same twice', () => {
  const keys = Array.from({ length: 200 }, createGatewayKey);
  for (const key of keys) {
    expect(key).toMatch(/^tgk_[0-9A-Za-z]{49}$/);
    expect(isWellFormedKey(key)).toBe(true);
  }
  expect(new Set(keys).size).toBe(200);
});

test('one mistyped, missing or added character is noticed without a look-up', () => {
  const key = createGatewayKey();
  fc.assert(
    fc.property(fc.integer({ min: 4, max: key.length - 1 }), fc.constantFrom(...'0aZ9xQ'), (at, typed) => {
      fc.pre(key[at] !== typed);
      expect(isWellFormedKey(key.slice(0, at) + typed + key.slice(at + 1))).toBe(false);
    }),
  );
  for (const wrong of [
    key.slice(0, -1),
    `${key}0`,
    ` ${key}`,
    `${key}\n`,
    key.toUpperCase(),
    `sk-${key}`,
    '',
    ZERO_KEY,
  ])
    expect(isWellFormedKey(wrong)).toBe(false);
});

test('the digest is the SHA-256 of the whole key in hex', () => {
  expect(digestKey('tgk_abc')).toBe('18b5ff34ece70ecac3f9e982abe78bb5f41db1e77bb1514e74a49e5487df3a22');
});

test('a key is shown by its first eight and last four characters', () => {
  expect(keyHints(`tgk_0123${'x'.repeat(41)}9876`)).toEqual({ prefix: 'tgk_0123', last4: '9876' });
});
