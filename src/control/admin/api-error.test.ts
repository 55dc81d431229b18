import { expect, test } from 'vitest';
import { toApiError } from './api-error.ts';

function databaseError(code: string): Error {
  return Object.assign(new Error('could not extend file: No space left on device'), { code });
}

test.each([
  '25006',
  '53300',
  '57P01',
  '57P02',
  '57P03',
  '57P04',
  '57P05',
  '08006',
  '08P01',
  '28P01',
  '3D000',
  'ECONNRESET',
  'ETIMEDOUT',
  'EAI_AGAIN',
])('a database that cannot be asked now (%s) is no defect of the gateway', (code) => {
  expect(toApiError(databaseError(code))).toMatchObject({ status: 503, code: 'database_unavailable' });
});

test('a database that takes no more connections is said as such', () => {
  expect(toApiError(databaseError('53300')).message).toBe(
    'The database takes no more connections. Calls are proxied and recorded meanwhile; raise its max_connections, or the limit of the role or the database: each node needs 18.',
  );
});

test('a full disk of the database is said as such, and is no defect of the gateway', () => {
  const { status, code, message } = toApiError(databaseError('53100'));
  expect([status, code, message]).toEqual([
    503,
    'database_full',
    'The disk of the database is full. Make room, then ask again.',
  ]);
  expect(toApiError(databaseError('53200')).code).toBe('internal_error');
});

test.each(['timeout expired', 'timeout exceeded when trying to connect', 'Connection terminated unexpectedly'])(
  'what the driver says of a database that cannot be asked (%s) is no defect of the gateway',
  (message) => {
    expect(toApiError(new Error(message))).toMatchObject({ status: 503, code: 'database_unavailable' });
  },
);
