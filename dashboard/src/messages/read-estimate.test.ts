import { expect, test } from 'vitest';
import { readEstimate } from './read-estimate.ts';

test('an estimate has its tokens and how they were counted', () => {
  expect(readEstimate({ input: 11, output: 4, method: 'o200k_base' })).toEqual({
    input: 11,
    output: 4,
    method: 'o200k_base',
    notes: [],
  });
});

test('what was reported is not in it, and what it lacks is said', () => {
  const stored = {
    output: 9,
    method: 'o200k_base × 1.1',
    cut: true,
    not_counted: ['media', 'answer', 'something new'],
  };
  expect(readEstimate(stored)).toEqual({
    input: null,
    output: 9,
    method: 'o200k_base × 1.1',
    notes: [
      'A part of the bodies was not kept; it is taken to be like the rest.',
      'Not counted: images, audio and files; the answer, of which nothing came; something new.',
    ],
  });
});

test('where there is none, the reason is said; a call that needs none has nothing', () => {
  expect(readEstimate({ unavailable: 'no_body' })?.notes).toEqual(['There is no estimate: the bodies were not kept.']);
  expect(readEstimate({ unavailable: 'new reason' })?.notes).toEqual(['There is no estimate.']);
  expect([readEstimate(null), readEstimate('odd')]).toEqual([null, null]);
});
