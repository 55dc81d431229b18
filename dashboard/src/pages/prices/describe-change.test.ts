import { expect, test } from 'vitest';
import { listChangedMembers } from './describe-change.ts';

const OVERRIDE = { id: 1, provider: 'openai', model: 'gpt-x', rates: { input: '1', output: '2' }, note: null };

test('of a replaced declaration only what differs is told, each rate by itself', () => {
  const after = { ...OVERRIDE, id: 2, rates: { input: '1', output: '2.5', cache_read: '0.1' }, note: 'contract' };
  expect(listChangedMembers(OVERRIDE, after)).toEqual([
    { name: 'rates.output', before: '2', after: '2.5' },
    { name: 'rates.cache_read', before: null, after: '0.1' },
    { name: 'note', before: null, after: 'contract' },
  ]);
});

test('of an added or removed one every member is told, but not what is nothing', () => {
  expect(listChangedMembers(null, { factor: '0.85', provider_alias: null })).toEqual([
    { name: 'factor', before: null, after: '0.85' },
  ]);
  expect(listChangedMembers(OVERRIDE, null).map(({ name }) => name)).toEqual([
    'provider',
    'model',
    'rates.input',
    'rates.output',
  ]);
});

test('a history of any shape does no harm', () => {
  expect(listChangedMembers('text', 7)).toEqual([]);
  expect(listChangedMembers(null, JSON.parse('{"__proto__":{"a":1},"list":[1]}'))).toEqual([
    { name: '__proto__.a', before: null, after: '1' },
    { name: 'list', before: null, after: '[1]' },
  ]);
});
