import { expect, test } from 'vitest';
import { ApiError } from '../../api/client.ts';
import { createForm, findUnsendable, readFieldProblem, readForm, toDeclaration } from './declaration-form.ts';

test('empty fields are null, blank rates are left out, and texts lose the spaces around them', () => {
  const form = createForm('override', { model: ' gpt-x ', rates: { input: ' 1.25 ', output: '', cache_read: ' ' } });
  expect(toDeclaration(form)).toEqual({
    kind: 'override',
    provider: 'openai',
    provider_alias: null,
    match: 'exact',
    model: 'gpt-x',
    service_tier: 'standard',
    over_tokens: null,
    up_to_tokens: null,
    rates: { input: '1.25' },
    valid_from: null,
    valid_to: null,
    note: null,
  });
});

test('a rate stays the text that was typed, however small or long', () => {
  const rates = { input: '0.000000000001', output: '12345678901234567890.1' };
  expect(toDeclaration(createForm('override', { rates }))).toMatchObject({ rates });
});

test('times are UTC, to the millisecond that was saved', () => {
  const form = createForm('multiplier', { factor: '0.85', from: '2026-12-01T00:00', to: 'tomorrow' });
  expect(toDeclaration(form)).toMatchObject({ valid_from: '2026-12-01T00:00:00.000Z', valid_to: 'tomorrow' });
});

test('a saved declaration comes out of the form as it went in', () => {
  const saved = {
    kind: 'override',
    id: 3,
    created_at: '2026-11-28T10:00:00.000Z',
    provider: 'bedrock',
    provider_alias: 'eu',
    match: 'prefix',
    model: 'arn:aws:bedrock:',
    service_tier: 'batch',
    over_tokens: 0,
    up_to_tokens: 200_000,
    rates: { input: '1.5', web_search_requests: '10' },
    valid_from: '2026-11-01T00:00:00.000Z',
    valid_to: '2026-12-01T12:30:15.250Z',
    note: 'contract 7',
  } as const;
  const { id: _, created_at: __, ...declared } = saved;
  expect(toDeclaration(readForm(saved))).toEqual(declared);
  expect(readForm(saved)).toMatchObject({ from: '2026-11-01T00:00', to: '2026-12-01T12:30:15.250' });
});

test('what is no number of tokens is said at once, since it could not be sent', () => {
  expect(findUnsendable(createForm('override', { overTokens: '200k', upToTokens: '' }))).toEqual({
    over_tokens: 'Write a whole number of tokens, such as 200000.',
  });
  expect(findUnsendable(createForm('override', { overTokens: ' 200000 ' }))).toEqual({});
});

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
