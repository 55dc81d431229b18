import { expect, test } from 'vitest';
import { nameFlags } from './name-flags.ts';

test('a refusal names the flag that was typed, also of what a preview wraps', () => {
  expect(nameFlags('add.rates.input: a rate is plain decimal text')).toBe('--input: a rate is plain decimal text');
  expect(nameFlags('rates.cache_creation_1h: a rate')).toBe('--rate cache_creation_1h: a rate');
  expect(nameFlags('add.valid_to: it must be later than valid_from')).toBe(
    '--to or --until: it must be later than --from',
  );
  expect(nameFlags('up_to_tokens: it must be more than over_tokens')).toBe(
    '--up-to-tokens: it must be more than --over-tokens',
  );
  expect(nameFlags('requested_at: write a time')).toBe('--at: write a time');
});

test('what is no field of a request stays as it is', () => {
  expect(nameFlags('columns: there is no column "x".')).toBe('columns: there is no column "x".');
  expect(nameFlags('The price feed is off; TOLLGATE_PRICE_FEED=on turns it on.')).toBe(
    'The price feed is off; TOLLGATE_PRICE_FEED=on turns it on.',
  );
  expect(nameFlags('constructor: a')).toBe('constructor: a');
});
