import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scanTopLevel } from './json-top-level.ts';

describe('the top level of a JSON object', () => {
  test('gives scalars by value and the place of everything else', () => {
    const json = Buffer.from(
      ' {"model": "a\\u0062" , "n":-1.5e3,"stream":true,"x":null,"messages":[{"model":"no"}]} \n',
    );
    const { openBrace, state, members, memberCount, duplicates } = scanTopLevel(json, null);
    expect({ openBrace, state, memberCount, duplicates }).toEqual({
      openBrace: 1,
      state: 'complete',
      memberCount: 5,
      duplicates: [],
    });
    expect([...members].map(([name, member]) => [name, member.scalar])).toEqual([
      ['model', 'ab'],
      ['n', -1500],
      ['stream', true],
      ['x', null],
      ['messages', undefined],
    ]);
    const messages = members.get('messages');
    expect(json.toString('utf8', messages?.valueStart, messages?.valueEnd ?? 0)).toBe('[{"model":"no"}]');
    expect(json.toString('utf8', messages?.keyStart, messages?.valueStart)).toBe('"messages":');
  });

  test('reads a wanted name that is written with escapes', () => {
    expect(scanTopLevel(Buffer.from('{"\\u0073tream":true}'), ['stream']).members.get('stream')?.scalar).toBe(true);
  });

  test('reports a repeated name and keeps the last, as parsers do', () => {
    const scan = scanTopLevel(Buffer.from('{"a":1,"b":2,"a":3}'), ['a']);
    expect(scan.duplicates).toEqual(['a']);
    expect(scan.members.get('a')?.scalar).toBe(3);
  });

  test.each([
    ['{"model":"m","messages":[{"content":"abc', 'truncated', 'm'],
    ['{"model":"m"', 'truncated', 'm'],
    ['{"model":"m', 'truncated', undefined],
    ['{"model"', 'truncated', undefined],
    ['{', 'truncated', undefined],
    ['', 'truncated', undefined],
    ['{"n":12', 'truncated', undefined],
    ['{"model":"m"} x', 'invalid', 'm'],
    ['{"model":"m",}', 'invalid', 'm'],
    ['{"model" "m"}', 'invalid', undefined],
    ['{"model":}', 'invalid', undefined],
    ['[1]', 'invalid', undefined],
    ['"text"', 'invalid', undefined],
    ['{}', 'complete', undefined],
  ])('of %j is %s', (text, state, model) => {
    const scan = scanTopLevel(Buffer.from(text), ['model', 'n']);
    expect(scan.state).toBe(state);
    expect(scan.members.get('model')?.scalar).toBe(model);
  });

  test('of any object agrees with a full parse', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.boolean(), (object, pretty) => {
        const text = JSON.stringify(object, null, pretty ? 1 : 0);
        const json = Buffer.from(text);
        const scan = scanTopLevel(json, null);
        expect(scan.state).toBe('complete');
        const values = [...scan.members].map(([name, { valueStart, valueEnd }]) => [
          name,
          JSON.parse(json.toString('utf8', valueStart, valueEnd ?? 0)),
        ]);
        expect(Object.fromEntries(values)).toEqual(JSON.parse(text));
      }),
    );
  });

  test('never throws on any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.constantFrom('', '{', '{"a":', '{"a":"\\'), (bytes, head) => {
        scanTopLevel(Buffer.concat([Buffer.from(head), bytes]), null);
      }),
    );
  });
});
