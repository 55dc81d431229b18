/** The results of a batch: the one place where usage is added up, line by line, for each model apart. */
import { describe, expect, test } from 'vitest';
import type { JsonObject, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { messageBatch } from './message-batch.ts';
import { NOTHING_REPORTED } from './reported-usage.ts';
import { createUsageReader } from './usage-reader.ts';

const SUCCEEDED = (model: string, usage: JsonObject): JsonObject => ({
  custom_id: 'any',
  result: { type: 'succeeded', message: { type: 'message', model, content: [], usage } },
});

function readLines(lines: readonly JsonObject[], complete = true): ReportedUsage {
  const reader = createUsageReader({
    format: messageBatch,
    status: 200,
    contentType: 'application/x-jsonl',
    contentEncoding: null,
    resultId: 'msgbatch_1',
  });
  for (const line of lines) reader.push(Buffer.from(`${JSON.stringify(line)}\n`));
  let reported = NOTHING_REPORTED;
  reader.finish(complete, (end) => {
    reported = end;
  });
  return reported;
}

describe('the results of a message batch', () => {
  test('are the sum of what succeeded, of each model apart, at the tier they were served in', () => {
    const reported = readLines([
      SUCCEEDED('claude-haiku-4-5', { input_tokens: 10, output_tokens: 4, service_tier: 'batch' }),
      {
        custom_id: 'b',
        result: { type: 'errored', error: { type: 'error', error: { type: 'invalid_request_error' } } },
      },
      SUCCEEDED('claude-opus-5', { input_tokens: 100, output_tokens: 40, service_tier: 'batch' }),
      { custom_id: 'd', result: { type: 'expired' } },
      SUCCEEDED('claude-haiku-4-5', {
        input_tokens: 1,
        cache_read_input_tokens: 7,
        output_tokens: 2,
        output_tokens_details: { thinking_tokens: 1 },
      }),
      SUCCEEDED('claude-opus-5', { input_tokens: 200, output_tokens: 50 }),
    ]);
    expect(reported.usage).toEqual({
      classes: { input: 11, cache_read: 7, output: 6 },
      reasoning: 1,
      largestPrompt: 10,
      others: [{ purpose: 'batch', model: 'claude-opus-5', classes: { input: 300, output: 90 }, largestPrompt: 200 }],
      native: {
        'claude-haiku-4-5': {
          input_tokens: 11,
          output_tokens: 6,
          cache_read_input_tokens: 7,
          output_tokens_details: { thinking_tokens: 1 },
        },
        'claude-opus-5': { input_tokens: 300, output_tokens: 90 },
      },
    });
    expect(reported).toMatchObject({
      model: 'claude-haiku-4-5',
      serviceTier: 'batch',
      laterResult: { id: 'msgbatch_1', isFinal: true },
      terminal: true,
      error: null,
      flags: [],
    });
  });

  test('keep long prompts apart, the cache counted in: the sum must not choose the tier', () => {
    const { usage } = readLines([
      SUCCEEDED('claude-sonnet-4-5', { input_tokens: 50_000, output_tokens: 1 }),
      SUCCEEDED('claude-sonnet-4-5', { input_tokens: 150_000, cache_read_input_tokens: 50_001, output_tokens: 2 }),
      SUCCEEDED('claude-sonnet-4-5', { input_tokens: 100_000, output_tokens: 3 }),
    ]);
    expect(usage).toMatchObject({
      classes: { input: 150_000, output: 4 },
      largestPrompt: 100_000,
      others: [
        {
          purpose: 'batch',
          model: 'claude-sonnet-4-5',
          classes: { input: 150_000, cache_read: 50_001, output: 2 },
          largestPrompt: 200_001,
        },
      ],
    });
  });

  test('sum compactions and advisors of all lines', () => {
    const compacted = {
      input_tokens: 5,
      output_tokens: 1,
      iterations: [
        { type: 'compaction', input_tokens: 90, output_tokens: 9 },
        { type: 'advisor_message', model: 'claude-opus-5', input_tokens: 3, output_tokens: 2 },
      ],
    };
    expect(
      readLines([SUCCEEDED('claude-sonnet-5', compacted), SUCCEEDED('claude-sonnet-5', compacted)]).usage,
    ).toMatchObject({
      classes: { input: 10, output: 2 },
      others: [
        { purpose: 'compaction', model: 'claude-sonnet-5', classes: { input: 180, output: 18 }, largestPrompt: 90 },
        { purpose: 'advisor', model: 'claude-opus-5', classes: { input: 6, output: 4 }, largestPrompt: 3 },
      ],
    });
  });

  test('sum prompts apart at every length at which they begin to cost more', () => {
    const line = (tokens: number) => SUCCEEDED('claude-haiku-5-5', { input_tokens: tokens, output_tokens: 1 });
    const { usage } = readLines([100_000, 100_001, 60_000, 200_000, 200_001].map(line));
    expect(usage).toMatchObject({ classes: { input: 160_000, output: 2 }, largestPrompt: 100_000 });
    expect(usage?.others?.map(({ classes, largestPrompt }) => [classes, largestPrompt])).toEqual([
      [{ input: 300_001, output: 2 }, 200_000],
      [{ input: 200_001, output: 1 }, 200_001],
    ]);
  });

  test('keep what was served on other terms apart, with those terms', () => {
    const line = (geo: string) =>
      SUCCEEDED('claude-opus-5', { input_tokens: 10, output_tokens: 1, inference_geo: geo });
    const reported = readLines([line('us'), line('global'), line('us'), line('global')]);
    expect(reported).toMatchObject({ inferenceGeo: 'us', usage: { classes: { input: 20, output: 2 } } });
    expect(reported.usage?.others).toEqual([
      {
        purpose: 'batch',
        model: 'claude-opus-5',
        classes: { input: 20, output: 2 },
        terms: { serviceTier: null, speed: null, inferenceGeo: 'global' },
        largestPrompt: 10,
      },
    ]);
  });

  test.each([
    ['is not JSON', '{"custom_id":"b","result":{"type":"succ'],
    ['is too large to be read', `{"custom_id":"b","pad":[${'{"a":[{}]},'.repeat(200_000)}0]}`],
  ])('are incomplete when a line %s', (_, line) => {
    const first = JSON.stringify(SUCCEEDED('claude-haiku-4-5', { input_tokens: 10, output_tokens: 4 }));
    const header = { status: 200, contentType: 'application/x-jsonl', contentEncoding: null };
    const reader = createUsageReader({ format: messageBatch, ...header });
    reader.push(Buffer.from(`${first}\n${line}\n`));
    reader.finish(true, () => undefined);
    expect(reader.reported).toMatchObject({ terminal: true, usage: { classes: { input: 10 }, isIncomplete: true } });
  });

  test('add up to a whole number that a database has room for, whatever they say', () => {
    const broken = SUCCEEDED('claude-haiku-4-5', { input_tokens: 1e308, output_tokens: 1 });
    const reported = readLines([broken, broken]);
    // Too long a prompt for the others' sum: it has its own.
    expect(reported.usage?.others).toMatchObject([{ classes: { input: Number.MAX_SAFE_INTEGER, output: 2 } }]);
    expect(reported.flags).toEqual(['inconsistent']);
  });

  test('cut before their end are not at their end, so that nobody takes the part for the whole', () => {
    const reported = readLines([SUCCEEDED('claude-haiku-4-5', { input_tokens: 10, output_tokens: 4 })], false);
    expect(reported.usage?.classes).toEqual({ input: 10, output: 4 });
    expect(reported.terminal).toBe(false);
  });

  test('take no more memory with more lines, even of ever new models', () => {
    const lines = Array.from({ length: 6_000 }, (_, index) =>
      JSON.stringify(SUCCEEDED(`claude-${index % 300}`, { input_tokens: 2, output_tokens: 1 })),
    );
    const reported = lines.reduce<ReportedUsage>(
      (sum, line) => messageBatch.readEvent(null, JSON.parse(line), sum),
      NOTHING_REPORTED,
    );
    // 20 lines name the first model; 32 others have a sum; the rest is remarked and not counted.
    expect(reported.usage?.classes).toEqual({ input: 40, output: 20 });
    expect(reported.usage?.others).toHaveLength(32);
    expect(JSON.stringify(reported).length).toBeLessThan(8_000);
    expect(reported.usage?.isIncomplete).toBe(true);
    expect(reported.flags).toEqual(['inconsistent']);
  });
});

test('a new batch is a result that is made later', () => {
  const body = { id: 'msgbatch_1', type: 'message_batch', processing_status: 'in_progress' };
  expect(messageBatch.readJson(body, NOTHING_REPORTED)).toEqual({
    ...NOTHING_REPORTED,
    laterResult: { id: 'msgbatch_1', isFinal: false },
    terminal: true,
  });
});

test('a line whose cache writes may be billed as reads is not summed with those of which the rate is known', () => {
  const written = { input_tokens: 10, cache_creation_input_tokens: 100, output_tokens: 4 };
  const credit = { fallback_credit: { status: { type: 'redeemed' } } };
  const { usage } = readLines([
    SUCCEEDED('claude-opus-5', written),
    SUCCEEDED('claude-opus-5', { ...written, ...credit }),
    SUCCEEDED('claude-opus-5', { ...written, ...credit }),
  ]);
  expect(usage?.classes).toEqual({ input: 10, cache_creation_5m: 100, output: 4 });
  expect(usage?.others).toEqual([
    {
      purpose: 'batch',
      model: 'claude-opus-5',
      largestPrompt: 110,
      hasUnknownWrites: true,
      classes: { input: 20, cache_creation_5m: 200, output: 8 },
    },
  ]);
  expect(usage?.hasUnknownWrites).toBeUndefined();
});
