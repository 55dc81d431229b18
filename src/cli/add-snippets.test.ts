import { expect, test } from 'vitest';
import { addSnippets } from './add-snippets.ts';
import { cutToWidth } from './terminal-text.ts';

const LINES = ['time   cost', '12:00  $0.1', '13:00'];
const RECORDS = [
  { id: '1', snippet: { prompt: 'What is\u202e a gate?', answer: 'Something that opens.' } },
  { id: '2', snippet: null },
];

test('a wide terminal shows what was said behind each call', () => {
  expect(addSnippets(LINES, RECORDS, 60)).toEqual([
    'time   cost  prompt → answer',
    '12:00  $0.1  What is\\u202e a gate? → Something that opens.',
    '13:00',
  ]);
  expect(addSnippets(LINES, RECORDS, 40)[1]).toBe('12:00  $0.1  What is\\u202e a gate? → So…');
});

test('without room, without a terminal, or from a gateway that knows none, the table stays as it is', () => {
  expect(addSnippets(LINES, RECORDS, 36)).toEqual(LINES);
  expect(addSnippets(LINES, RECORDS, null)).toEqual(LINES);
  expect(addSnippets(LINES, [{ id: '1' }, { id: '2' }], 60).slice(1)).toEqual(LINES.slice(1));
});

test('an answer without text leaves the prompt alone', () => {
  const [, line] = addSnippets(['time', '12:00'], [{ snippet: { prompt: 'Embed this.', answer: '' } }], 60);
  expect(line).toBe('12:00  Embed this.');
});

test.each([
  ['12345', 5, '12345'],
  ['123456', 5, '1234…'],
  ['過路費', 6, '過路費'],
  ['過路費', 5, '過路…'],
  ['👋👋👋', 4, '👋…'],
])('%s in %i places is %s', (text, width, cut) => {
  expect(cutToWidth(text, width)).toBe(cut);
});
