import { expect, test } from 'vitest';
import { toApiError } from './api-error.ts';

function databaseError(code: string): Error {
  return Object.assign(new Error('could not extend file: No space left on device'), { code });
}

test('a full disk of the database is said as such, and is no defect of the gateway', () => {
  const { status, code, message } = toApiError(databaseError('53100'));
  expect([status, code, message]).toEqual([
    503,
    'database_full',
    'The disk of the database is full. Make room, then ask again.',
  ]);
  expect(toApiError(databaseError('53200')).code).toBe('internal_error');
});
