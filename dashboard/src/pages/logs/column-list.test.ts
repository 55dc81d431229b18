import { expect, test } from 'vitest';
import {
  addColumn,
  changeColumns,
  formatColumns,
  listColumns,
  listFields,
  readCellValue,
  readColumnFacts,
  readColumns,
  readMetadataValue,
} from './column-list.ts';

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

test('a column of the log that no other shows can be shown and filtered as it is', () => {
  expect(listColumns().slice(-4)).toEqual(['responded_at', 'connect_ms', 'headers_ms', 'first_byte_ms']);
  expect(readColumns('service_tier,native_usage', [])).toEqual(['service_tier']);
  expect(readColumnFacts('service_tier')).toEqual({
    label: 'Service tier',
    about: 'Service tier by the answer',
    fields: ['service_tier'],
    width: '9rem',
    filter: 'service_tier',
  });
  expect(readCellValue({ id: '1', service_tier: 'flex' }, 'service_tier')).toEqual({
    field: 'service_tier',
    value: 'flex',
  });
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

test('two clicks in the menu before the page shows the first are both done', () => {
  const after = ['client', 'path', 'client'].reduce<string | undefined>(
    (cols, id) => changeColumns(cols, [], (before) => addColumn(before, id)),
    'time,cost',
  );
  expect(after).toBe('time,cost,client,path');
  const without = ['time', 'cost'].reduce<string | undefined>(
    (cols, id) => changeColumns(cols, [], (before) => before.filter((one) => one !== id)),
    'time,cost',
  );
  // The last one stays.
  expect(without).toBe('cost');
  expect(changeColumns('time', [], null)).toBeUndefined();
});
