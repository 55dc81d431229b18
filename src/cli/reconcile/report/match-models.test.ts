import { expect, test } from 'vitest';
import { matchModels } from './match-models.ts';

function match(...names: string[]): Record<string, string> {
  return Object.fromEntries(matchModels(names));
}

test('an alias belongs to the only snapshot of the day', () => {
  expect(match('gpt-4o-2024-08-06', 'gpt-4o', 'gpt-4o-mini')).toEqual({
    'gpt-4o-2024-08-06': 'gpt-4o-2024-08-06',
    'gpt-4o': 'gpt-4o-2024-08-06',
    'gpt-4o-mini': 'gpt-4o-mini',
  });
  expect(match('claude-3-5-haiku-20241022', 'claude-3-5-haiku-latest')).toEqual({
    'claude-3-5-haiku-20241022': 'claude-3-5-haiku-20241022',
    'claude-3-5-haiku-latest': 'claude-3-5-haiku-20241022',
  });
  expect(match('gpt-4', 'gpt-4-0613')).toEqual({ 'gpt-4': 'gpt-4-0613', 'gpt-4-0613': 'gpt-4-0613' });
});

test('with two snapshots the alias could be either, and stands for itself', () => {
  const names = match('gpt-4o-2024-08-06', 'gpt-4o-2024-11-20', 'gpt-4o');
  expect(Object.entries(names).every(([name, matched]) => name === matched)).toBe(true);
});

test('two snapshots are never the same, and nothing matches by likeness', () => {
  const names = match('gpt-4o-2024-08-06', 'gpt-4o-2024-11-20', 'claude-sonnet-4-5', 'claude-sonnet-4', 'gpt-5.4');
  expect(Object.entries(names).every(([name, matched]) => name === matched)).toBe(true);
});
