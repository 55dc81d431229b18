import { expect, test } from 'vitest';
import { FilterError, parseLogFilter } from './log-filter.ts';

test('a filter on a column is read with its operator and value', () => {
  expect(parseLogFilter('provider:eq:openai')).toEqual({
    field: { type: 'column', column: 'provider', kind: 'text' },
    op: 'eq',
    values: ['openai'],
  });
  expect(parseLogFilter('status:in:429,500,503').values).toEqual(['429', '500', '503']);
  expect(parseLogFilter('trace_id:nohas')).toMatchObject({ op: 'nohas', values: [] });
});

test('comma, colon, percent and slash inside a value travel percent-encoded', () => {
  expect(parseLogFilter('model:in:a%2Cb,c%3Ad,100%25').values).toEqual(['a,b', 'c:d', '100%']);
  expect(parseLogFilter('span_path:eq:plan/step%252Fone').values).toEqual(['plan/step%2Fone']);
});

test('a metadata filter keeps the key as written, dots and encoded colons included', () => {
  expect(parseLogFilter('metadata.User%3AId.x:prefix:acme-')).toEqual({
    field: { type: 'metadata', key: 'User:Id.x' },
    op: 'prefix',
    values: ['acme-'],
  });
});

test('an empty value is a value: it finds the empty text, not the missing one', () => {
  expect(parseLogFilter('metadata.Note:eq:').values).toEqual(['']);
});

test('a time may carry its colons as they are', () => {
  expect(parseLogFilter('requested_at:gte:2026-11-20T14:00:00.5+01:00').values).toEqual([
    '2026-11-20T14:00:00.5+01:00',
  ]);
});

test.each([
  ['nosuch:eq:1', /no column "nosuch"/],
  ['__proto__:eq:1', /no column/],
  ['constructor:eq:1', /no column/],
  ['metadata.:eq:1', /no metadata key/],
  ['model', /column:op:value/],
  ['model:like:x', /op is one of/],
  ['model:eq', /needs a value/],
  ['model:eq:a,b', /%2C/],
  ['model:eq:a:b', /%3A/],
  ['model:eq:%zz', /%25/],
  ['model:eq:%00', /U\+0000/],
  ['model:has:x', /takes no value/],
  ['status:prefix:4', /can be filtered by/],
  ['status:eq:4.5', /whole number/],
  ['total_cost:gt:1e-3', /plain decimal/],
  ['requested_at:gt:yesterday', /a time such as/],
  ['streamed:eq:yes', /true or false/],
  ['id:eq:7', /UUID/],
  ['usage:eq:{}', /can be filtered by has, nohas/],
  [`model:in:${Array.from({ length: 101 }, () => 'x').join(',')}`, /at most 100/],
])('%s is refused in words', (text, message) => {
  expect(() => parseLogFilter(text)).toThrow(FilterError);
  expect(() => parseLogFilter(text)).toThrow(message);
});

test.each([
  '2026-02-30',
  '2026-11-31T00:00:00Z',
  '0000-01-01',
  '2026-01-01T00:00:00+23:59',
  '2026-13-01',
  '9999-12-31T23:59:59-14:00',
  '0001-01-01T00:00:00+14:00',
])('%s is no time: the database would refuse it', (text) => {
  expect(() => parseLogFilter(`requested_at:gt:${text}`)).toThrow(FilterError);
});

test('the last day of a leap February and a zone ahead by half an hour are times', () => {
  expect(parseLogFilter('requested_at:gt:2028-02-29T00:00:00+05:30').values).toEqual(['2028-02-29T00:00:00+05:30']);
});
