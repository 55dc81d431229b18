import { expect, test } from 'vitest';
import { addMatches } from './add-matches.ts';

const LINES = ['time   cost', '12:00  $0.1', '13:00'];
const RECORDS = [
  {
    id: '1',
    matches: [
      { in: 'prompt', text: '…pay the in\u202evoice of March', start: 9, length: 7 },
      { in: 'metadata.Feature', text: 'invoices', start: 0, length: 7 },
    ],
  },
  { id: '2' },
];

test('below each call stands where the text was found, safe for a terminal', () => {
  expect(addMatches(LINES, RECORDS, null)).toEqual([
    'time   cost',
    '12:00  $0.1',
    '    prompt: …pay the in\\u202evoice of March',
    '    metadata.Feature: invoices',
    '13:00',
  ]);
  expect(addMatches(LINES, RECORDS, 20)[2]).toBe('    prompt: …pay th…');
});
