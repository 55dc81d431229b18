import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../vocabulary/token-usage.ts';
import { batches } from './batches.ts';
import { NOTHING_REPORTED } from './reported-usage.ts';

const BATCH = { id: 'batch_1', object: 'batch', endpoint: '/v1/chat/completions', model: 'gpt-5-2025-08-07' };
const USAGE = {
  input_tokens: 1000,
  input_tokens_details: { cached_tokens: 400 },
  output_tokens: 300,
  output_tokens_details: { reasoning_tokens: 100 },
  total_tokens: 1300,
};

function read(body: JsonObject) {
  return batches.readJson(body, NOTHING_REPORTED);
}

describe('a batch', () => {
  test.each<[string, boolean]>([
    ['validating', false],
    ['in_progress', false],
    ['finalizing', false],
    ['cancelling', false],
    ['completed', true],
    ['expired', true],
    ['cancelled', true],
    ['failed', true],
  ])('that is %s is final: %s', (status, isFinal) => {
    expect(read({ ...BATCH, status, usage: USAGE })).toMatchObject({
      laterResult: { id: 'batch_1', isFinal },
      model: 'gpt-5-2025-08-07',
      usage: { classes: { input: 600, cache_read: 400, output: 300 }, reasoning: 100, native: USAGE },
    });
  });

  test('of pictures has the tokens of pictures', () => {
    const usage = { input_tokens: 80, output_tokens: 2000, total_tokens: 2080 };
    expect(read({ ...BATCH, endpoint: '/v1/images/generations', status: 'completed', usage }).usage?.classes).toEqual({
      input: 80,
      output: 0,
      output_image: 2000,
    });
  });

  test('says that the sizes of its prompts are not known, unless it had one request', () => {
    const isUnknown = (more: JsonObject) => read({ ...BATCH, ...more, status: 'completed', usage: USAGE }).usage;
    expect(isUnknown({})?.hasUnknownPrompts).toBe(true);
    expect(isUnknown({ request_counts: { total: 2, completed: 1, failed: 1 } })?.hasUnknownPrompts).toBe(true);
    expect(isUnknown({ request_counts: { total: 1, completed: 1, failed: 0 } })?.hasUnknownPrompts).toBeUndefined();
  });

  const zero = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
  test.each<[string, JsonObject, boolean]>([
    [
      'of which requests were done',
      { status: 'completed', request_counts: { total: 2, completed: 2, failed: 0 } },
      false,
    ],
    [
      'that ran out of time with requests done',
      { status: 'expired', request_counts: { total: 9, completed: 1 } },
      false,
    ],
    ['that does not say how many were done', { status: 'completed' }, false],
    [
      'of which all requests failed',
      { status: 'completed', request_counts: { total: 2, completed: 0, failed: 2 } },
      true,
    ],
    ['that was cancelled before any', { status: 'cancelled', request_counts: { total: 2, completed: 0 } }, true],
  ])('that says zero, %s, is final: %s', (_, more, isFinal) => {
    const missing = isFinal ? {} : { lacksUsage: true };
    expect(read({ ...BATCH, ...more, usage: zero }).laterResult).toEqual({ id: 'batch_1', isFinal, ...missing });
  });

  test.each<[JsonObject, boolean]>([
    [{ status: 'completed', request_counts: { total: 2, completed: 2, failed: 0 } }, true],
    [{ status: 'completed' }, true],
    [{ status: 'expired', request_counts: { total: 2, completed: 1, failed: 0 } }, true],
    [{ status: 'expired' }, true],
    [{ status: 'cancelled', request_counts: { total: 2, completed: 1, failed: 0 } }, true],
    [{ status: 'cancelled', request_counts: { total: 2, completed: 0, failed: 0 } }, false],
    [{ status: 'cancelled' }, false],
    [{ status: 'failed', request_counts: { total: 0, completed: 0, failed: 0 } }, false],
    [{ status: 'in_progress', request_counts: { total: 2, completed: 1, failed: 0 } }, false],
  ])('without usage, %j, lacks it: %s', (more, lacks) => {
    expect(read({ ...BATCH, ...more }).laterResult?.lacksUsage).toBe(lacks || undefined);
  });

  test('is not a list of batches', () => {
    const list = { object: 'list', data: [{ ...BATCH, status: 'completed', usage: USAGE }] };
    expect(read(list)).toEqual({ ...NOTHING_REPORTED, terminal: true });
  });
});
