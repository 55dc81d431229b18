import { expect, test } from 'vitest';
import { stringifySearch } from './search-params.ts';
import { readTypedFilters } from './typed-filters.ts';

test.each([
  ['', []],
  ['  ', []],
  ['model:prefix:gpt-5 key_id:eq:3', ['model:prefix:gpt-5', 'key_id:eq:3']],
  ['metadata.Team:eq:search team  key_id:eq:3 ', ['metadata.Team:eq:search team', 'key_id:eq:3']],
  ['metadata.Cost center:eq:a b any_model:eq:m', ['metadata.Cost center:eq:a b', 'any_model:eq:m']],
  ['run.errors:gt:3 metadata.Team:has', ['run.errors:gt:3', 'metadata.Team:has']],
  ['metadata.Team:eq:c++ error:in:x', ['metadata.Team:eq:c++ error:in:x']],
  ['model:eq:m model:eq:m', ['model:eq:m']],
  ['metadata.question:contains:why?', ['metadata.question:contains:why?']],
  ['path:prefix:/v1/x?alt=sse', ['path:prefix:/v1/x?alt=sse']],
  ['error_message:contains:Retry? key_id:eq:3', ['error_message:contains:Retry?', 'key_id:eq:3']],
  ['metadata.q:eq:a&f=b', ['metadata.q:eq:a&f=b']],
])('typed, %j are the filters %j', (text, filters) => {
  expect(readTypedFilters(text)).toEqual(filters);
});

test.each([
  ['f=metadata.Team:eq:search+team', ['metadata.Team:eq:search team']],
  ['range=7d&f=model:eq:m', ['model:eq:m']],
  ['/logs?f=model:eq:m', ['model:eq:m']],
  ['f=model:eq:m f=key_id:eq:3', ['model:eq:m', 'key_id:eq:3']],
  ['?range=7d&f=metadata.Team:eq:a%252Cb&f=key_id:in:3,7', ['metadata.Team:eq:a%2Cb', 'key_id:in:3,7']],
  ['https://gateway.example.com/logs?f=model:eq:m&range=1h#x', ['model:eq:m']],
  ['https://gateway.example.com/logs?range=1h', []],
])('of an address, %j are the filters %j', (text, filters) => {
  expect(readTypedFilters(text)).toEqual(filters);
});

test('what a page writes into its address is read as what it was', () => {
  const f = ['metadata.Team:eq:search team', 'metadata.Note:eq:50%25 %2C +1', 'status:gte:400'];
  expect(readTypedFilters(stringifySearch({ range: '7d', f }))).toEqual(f);
});
