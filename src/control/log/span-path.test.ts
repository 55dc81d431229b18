import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeSpanKey, encodeSpanKey, MAX_SPAN_DEPTH, MAX_SPAN_KEY_BYTES, readSpanPath } from './span-path.ts';

test.each([
  ['plan/search', ['plan', 'search'], 'plan/search'],
  ['/plan//search/', ['plan', 'search'], 'plan/search'],
  ['plan/step%201', ['plan', 'step 1'], 'plan/step%201'],
  ['plan/step 1', ['plan', 'step 1'], 'plan/step%201'],
  ['a%2Fb/c', ['a/b', 'c'], 'a%2Fb/c'],
  ['a%2fb/c', ['a/b', 'c'], 'a%2Fb/c'],
  ['%C3%BC', ['ü'], '%C3%BC'],
  ['ü', ['ü'], '%C3%BC'],
  ['100%', ['100%'], '100%25'],
  ['%zz/%C3', ['%zz', '%C3'], '%25zz/%25C3'],
  ['%C3%28%F0%9F%98%80', ['%C3(😀'], '%25C3%28%F0%9F%98%80'],
  ['%61%62c', ['abc'], 'abc'],
  ["it's (1)!*", ["it's (1)!*"], 'it%27s%20%281%29%21%2A'],
  ['.', ['.'], '.'],
  ['', [], ''],
  ['///', [], ''],
])('the path %j has the names %j and the key %j', (path, names, key) => {
  expect(readSpanPath(path)).toEqual({ names, key, isCut: false });
});

test('names survive being encoded and decoded, whatever they are', () => {
  const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).map((text) => text.toWellFormed());
  fc.assert(
    fc.property(fc.array(name, { maxLength: 8 }), (names) => {
      expect(decodeSpanKey(encodeSpanKey(names))).toEqual(names);
    }),
    { seed: 1 },
  );
});

test('a key is its own canonical spelling, for any path', () => {
  const piece = fc.constantFrom('/', '%', '%2', '%2F', '%C3', '%BC', 'a', 'é', ' ', '\ud800', '%00', '😀');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const read = readSpanPath(pieces.join(''));
      expect(readSpanPath(read.key)).toEqual(read);
      expect(encodeSpanKey(read.names)).toBe(read.key);
      expect(read.key).toMatch(/^[\w.~%/-]*$/);
    }),
    { seed: 2, numRuns: 500 },
  );
});

test('depth and length are cut, and the cut is reported', () => {
  const deep = readSpanPath('a/'.repeat(MAX_SPAN_DEPTH + 1));
  expect([deep.names.length, deep.isCut]).toEqual([MAX_SPAN_DEPTH, true]);
  expect(readSpanPath('a/'.repeat(MAX_SPAN_DEPTH)).isCut).toBe(false);
  const long = readSpanPath(`first/${'x'.repeat(MAX_SPAN_KEY_BYTES)}`);
  expect(long).toEqual({ names: ['first'], key: 'first', isCut: true });
});
