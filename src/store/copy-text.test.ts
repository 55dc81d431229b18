import { expect, test } from 'vitest';
import { callBegin, callEnd, NOON_MS, priceByToken } from '../../test/call-fixtures.ts';
import { toBillableCall } from '../pricing/to-billable-call.ts';
import { makeRow } from '../shipper/make-row.ts';
import { COPY_COLUMNS, encodeCopyText, storableJson, storableText } from './copy-text.ts';

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
