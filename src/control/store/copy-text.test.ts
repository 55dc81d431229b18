import { expect, test } from 'vitest';
import { callBegin, callEnd, NOON_MS, priceByToken } from '../../../test/support/call-fixtures.ts';
import { toBillableCall } from '../../pricing/to-billable-call.ts';
import { makeRow } from '../shipper/make-row.ts';
import { COPY_COLUMNS, encodeCopyText, encodeStoredRow, storableJson, storableText } from './copy-text.ts';

test('a row is one line with a field for each column, special characters escaped', () => {
  const begin = callBegin(1, { spanName: 'tab\there\nand\\there', metadata: [['Note', 'say "hi"\n']] });
  const end = callEnd(1, { flags: ['path_repaired', 'inconsistent'] });
  const line = encodeCopyText([makeRow(begin, end, priceByToken(toBillableCall(begin, end)), NOON_MS)]);
  expect(line.endsWith('\n')).toBe(true);
  const fields = line.slice(0, -1).split('\t');
  const names = COPY_COLUMNS.split(', ');
  expect(fields.length).toBe(names.length);
  const field = (name: string) => fields[names.indexOf(name)];
  expect(field('span_name')).toBe('tab\\there\\nand\\\\there');
  expect(field('raw_metadata')).toBe('{"Note":"say \\\\"hi\\\\"\\\\n"}');
  expect(field('flags')).toBe('{"path_repaired","inconsistent"}');
  expect(field('requested_at')).toBe('2026-11-28T12:00:00.001Z');
  expect(field('total_cost')).toBe('0.000171');
  expect(field('is_batch')).toBe('f');
  expect(field('trace_id')).toBe('\\N');
});

test('what PostgreSQL cannot store becomes U+FFFD: U+0000 and halves of surrogate pairs', () => {
  expect(storableText('a\0b\ud800c😀')).toBe('a\uFFFDb\uFFFDc😀');
  expect(storableJson({ 'k\0': ['\udc00', { inner: 'x\0' }] })).toBe('{"k\uFFFD":["\uFFFD",{"inner":"x\uFFFD"}]}');
  expect(storableJson({ text: '\\u0000 spelt out, 😀' })).toBe('{"text":"\\\\u0000 spelt out, 😀"}');
});

test.each<[string, Parameters<typeof callBegin>[1], Parameters<typeof callEnd>[1]]>([
  ['the model of the answer', {}, { model: 'gpt\0x' }],
  ['the model that was asked for', {}, { modelRequested: 'gpt\ud800' }],
  ['bytes that were no UTF-8', {}, { modelRequested: Buffer.from('gpt\xff', 'latin1').toString() }],
  ['the text of an error', {}, { errorMessage: 'no\0' }],
  ['the id of the request', {}, { providerRequestId: 'req\0' }],
  ['the tier', {}, { serviceTier: '\udfff' }],
  ['a value of metadata', { metadata: [['Note', 'a\0']] }, {}],
  ['the usage as reported', {}, { usage: { classes: { input: 1 }, reasoning: null, native: { 'k\0': 1 } } }],
])('a row says that characters of %s were replaced', (_, beginning, ending) => {
  const begin = callBegin(1, beginning);
  const end = callEnd(1, ending);
  const made = makeRow(begin, end, priceByToken(toBillableCall(begin, end)), NOON_MS);
  const { row, copyText } = encodeStoredRow(made);
  expect(row.flags).toEqual([...made.flags, 'text_replaced']);
  expect(copyText).toContain('"text_replaced"');
  expect(copyText).toContain('\uFFFD');
});

test('an ordinary row says nothing', () => {
  const begin = callBegin(1, { spanName: 'Prüfung 😀' });
  const end = callEnd(1);
  const made = makeRow(begin, end, priceByToken(toBillableCall(begin, end)), NOON_MS);
  expect(encodeStoredRow(made)).toEqual({ row: made, copyText: encodeCopyText([made]) });
});
