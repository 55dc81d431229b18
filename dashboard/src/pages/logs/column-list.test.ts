import { expect, test } from 'vitest';
import { formatColumns, listFields, readCellValue, readColumns, readMetadataValue } from './column-list.ts';

test('columns survive the address, whatever a metadata key has in it', () => {
  const columns = ['time', 'metadata.a,b%', 'cost'];
  expect(formatColumns(columns)).toBe('time,metadata.a%2Cb%25,cost');
  expect(readColumns(formatColumns(columns), [])).toEqual(columns);
});

test('what is no column is left out, and nothing left means the usual ones', () => {
  expect(readColumns('time,nonsense,time,metadata.', [])).toEqual(['time']);
  expect(readColumns('__proto__,constructor', ['Feature', 'Team', 'Third']).slice(-3)).toEqual([
    'key',
    'metadata.Feature',
    'metadata.Team',
  ]);
});

test('only the fields that are shown are asked for', () => {
  expect(listFields(['time'])).not.toContain('raw_metadata');
  expect(listFields(['metadata.Feature'])).toContain('raw_metadata');
});

test('a metadata value is found whatever the case of its key', () => {
  expect(readMetadataValue({ feature: 'b', Feature: 'a' }, 'FEATURE')).toBe('a, b');
  expect(readMetadataValue({}, 'x')).toBeNull();
});

test('a cell is filtered by what it shows', () => {
  const row = { id: '1', model: null, model_requested: 'gpt-5-mini', raw_metadata: { Feature: 'x' }, trace_id: null };
  expect(readCellValue(row, 'model')).toEqual({ field: 'model_requested', value: 'gpt-5-mini' });
  expect(readCellValue(row, 'metadata.Feature')).toEqual({ field: 'metadata.Feature', value: 'x' });
  expect(readCellValue(row, 'run')).toEqual({ field: 'trace_id', value: null });
  expect(readCellValue(row, 'cost')).toBeNull();
});
