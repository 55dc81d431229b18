import { describe, expect, test } from 'vitest';
import { type EstimateInput, makeEstimate } from './make-estimate.ts';

const PROMPT = { tokens: 100, isRough: false, isCjk: false, notCounted: [] } as const;
const ANSWER = { ...PROMPT, tokens: 20, tokensSinceReport: null, hasBegun: true } as const;
const WHOLE = { seenBytes: 1_000, totalBytes: 1_000 };

function input(changes: Partial<EstimateInput> = {}): EstimateInput {
  return {
    model: 'gpt-5',
    reported: {},
    hasAnswer: true,
    measured: { prompt: PROMPT, answer: ANSWER },
    request: WHOLE,
    response: WHOLE,
    ...changes,
  };
}

describe('an estimate', () => {
  test('has both sides when nothing was reported', () => {
    expect(makeEstimate(input())).toEqual({
      kind: 'made',
      estimatedTokens: { input: 100, output: 20, method: 'o200k_base' },
    });
  });

  test.each([
    ['claude-haiku-4-5-20251001', 22, ' × 1.1'],
    ['us.anthropic.claude-opus-4-6-v1', 22, ' × 1.1'],
    ['claude-3-5-sonnet-20241022', 22, ' × 1.1'],
    ['claude-opus-4-7', 28, ' × 1.4'],
    ['claude-sonnet-5-5', 28, ' × 1.4'],
    ['gemini-3.5-flash', 20, ''],
  ])('counts %s by its family', (model, output, factor) => {
    const reported = { input: 2_679, cache_read: 1_500, output: 3 };
    expect(makeEstimate(input({ model, reported }))).toEqual({
      kind: 'made',
      estimatedTokens: { output, method: `o200k_base${factor}` },
    });
  });

  test('goes on from what was reported in the middle of the answer', () => {
    const measured = { prompt: null, answer: { ...ANSWER, tokensSinceReport: 5 } };
    expect(makeEstimate(input({ reported: { input: 6, output: 28 }, measured }))).toMatchObject({
      estimatedTokens: { output: 33 },
    });
  });

  test('is never less than what was reported', () => {
    expect(makeEstimate(input({ reported: { input: 6, output: 28 } }))).toMatchObject({
      estimatedTokens: { output: 28 },
    });
  });

  test('takes what is missing of a body to be like what is there, and says so', () => {
    const response = { seenBytes: 1_000, totalBytes: 4_500 };
    expect(makeEstimate(input({ response }))).toMatchObject({
      estimatedTokens: { input: 100, output: 90, method: 'o200k_base', cut: true },
    });
  });

  test('names what it cannot see, an answer that never came among it', () => {
    const measured = { prompt: { ...PROMPT, notCounted: ['media' as const] }, answer: null };
    expect(makeEstimate(input({ measured, response: null }))).toEqual({
      kind: 'made',
      estimatedTokens: { input: 100, method: 'o200k_base', not_counted: ['media', 'answer'] },
    });
  });

  test('of what has no answer is its input', () => {
    const measured = { prompt: PROMPT, answer: null };
    expect(makeEstimate(input({ hasAnswer: false, measured }))).toMatchObject({
      estimatedTokens: { input: 100, method: 'o200k_base' },
    });
  });

  test('tells when bytes were counted', () => {
    const measured = { prompt: PROMPT, answer: { ...ANSWER, isRough: true } };
    expect(makeEstimate(input({ measured }))).toMatchObject({
      estimatedTokens: { method: 'o200k_base, partly bytes / 3.7' },
    });
  });

  test.each([
    ['no_body', { request: null, measured: { prompt: null, answer: ANSWER } }],
    ['unreadable', { measured: { prompt: null, answer: ANSWER } }],
    ['no_body', { reported: { input: 5 }, response: null, measured: { prompt: PROMPT, answer: null } }],
  ])('is not made where a side is missing: %s', (reason, changes) => {
    expect(makeEstimate(input(changes))).toEqual({ kind: 'unavailable', reason });
  });
});
