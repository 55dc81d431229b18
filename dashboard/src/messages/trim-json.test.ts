import { expect, test } from 'vitest';
import { trimJson } from './trim-json.ts';

test('what is cut says how much', () => {
  expect(trimJson({ a: 'x'.repeat(4_010) })).toEqual({ a: `${'x'.repeat(4_000)}… (10 more characters)` });
  expect(trimJson(Array.from({ length: 502 }, () => 1))).toEqual([
    ...Array.from({ length: 500 }, () => 1),
    '… (2 more items)',
  ]);
  expect(trimJson({ a: [1, null, true], b: 'text' })).toEqual({ a: [1, null, true], b: 'text' });
});

test('nesting without end is cut', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 10_000; level += 1) deep = [deep];
  expect(JSON.stringify(trimJson(deep))).toContain('nested deeper');
});

test('a field named __proto__ is a field', () => {
  const trimmed = trimJson(JSON.parse('{"__proto__":{"x":1}}'));
  expect(Object.getPrototypeOf(trimmed)).toBe(Object.prototype);
  expect(JSON.stringify(trimmed)).toBe('{"__proto__":{"x":1}}');
});
