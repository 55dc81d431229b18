import { expect, test } from 'vitest';
import { ApiError } from '../../api/client.ts';
import { readFieldProblem } from './field-problem.ts';

const FIELDS = ['valid_to', 'rates.input'];
const refuse = (message: string, status = 400) => new ApiError(status, 'invalid_request', message, 'r-1');

test('a refusal that names a field stands at that field, from a preview as from saving', () => {
  expect(readFieldProblem(refuse('valid_to: it must be later than valid_from'), FIELDS)).toEqual({
    field: 'valid_to',
    message: 'it must be later than valid_from',
  });
  expect(readFieldProblem(refuse('add.rates.input: write a decimal such as 1.25'), FIELDS)).toEqual({
    field: 'rates.input',
    message: 'write a decimal such as 1.25',
  });
});

test('a refusal about a field that is not shown, or about none, keeps its whole sentence', () => {
  expect(readFieldProblem(refuse('limit: too large'), FIELDS)?.message).toBe('limit: too large');
  expect(readFieldProblem(refuse('The database does not answer.', 503), FIELDS)).toEqual({
    field: null,
    message: 'The database does not answer.',
  });
  expect(readFieldProblem(null, FIELDS)).toBeNull();
});
