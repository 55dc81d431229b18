import { describe, expect, test } from 'vitest';
import { parseCutJson } from './parse-cut-json.ts';

describe('JSON that ends too early', () => {
  test.each([
    ['whole', '{"a":1}', { a: 1 }],
    ['in a string that is a value', '{"a":{"b":["x","Toll', { a: { b: ['x', 'Toll'] } }],
    ['behind a string', '{"a":{"b":"x"', { a: { b: 'x' } }],
    ['behind a bracket', '{"a":[{"b":{}}', { a: [{ b: {} }] }],
    ['in a name', '{"a":1,"b', { a: 1 }],
    ['behind a name', '{"a":1,"b":', { a: 1 }],
    ['in a number', '{"a":[1,2', { a: [1] }],
    ['in an escape', String.raw`{"a":"x\u00`, { a: 'x' }],
    ['behind a backslash', '{"a":"x\\', { a: 'x' }],
    ['behind an escaped backslash', String.raw`{"a":"x\\`, { a: 'x\\' }],
    ['with braces in a string', '{"a":"}]","b":["{', { a: '}]', b: ['{'] }],
  ])('%s', (_where, text, value) => {
    expect(parseCutJson(text)).toEqual(value);
  });

  test.each([
    ['no JSON', 'data'],
    ['nothing', ''],
    ['nested too deeply', '['.repeat(300)],
  ])('%s is no value', (_what, text) => {
    expect(parseCutJson(text)).toBeUndefined();
  });

  test('at every place of a document something or nothing comes out, and never an error', () => {
    const text = JSON.stringify({ a: [{ b: 'x\n"y"' }, null, true, -1.5e3], c: { 'd"': [] } });
    const ends = Array.from({ length: text.length }, (_, end) => end);
    for (const end of ends.slice(1)) expect(parseCutJson(text.slice(0, end))).toBeTypeOf('object');
  });
});
