import { describe, expect, it } from 'vitest';
import type { TokenUsage } from '../../vocabulary/token-usage.ts';
import { readStoredUsage, writeStoredUsage } from './stored-usage.ts';

const USAGE: TokenUsage = {
  classes: { input: 1200, cache_read: 0, cache_creation_1h: 7, output: 350, web_search_requests: 2 },
  reasoning: 128,
  native: { prompt_tokens: 1207 },
  others: [
    {
      purpose: 'advisor',
      model: 'claude-opus-5',
      classes: { input: 10, output: 20 },
      terms: { serviceTier: 'batch', speed: null, inferenceGeo: 'us' },
      largestPrompt: 9,
    },
    { purpose: 'compaction', model: null, classes: { output: 5 } },
  ],
  largestPrompt: 800,
  hasUnknownPrompts: true,
  pictures: { size: '1024x1024', quality: null },
  isIncomplete: true,
  isRefused: true,
};

describe('usage in the log', () => {
  it('comes back as it was', () => {
    const stored = writeStoredUsage(USAGE);
    expect(readStoredUsage(stored, { reasoning: 128, native: { prompt_tokens: 1207 } })).toEqual(USAGE);
  });

  it('is written as its classes, and what is not the case is not there', () => {
    expect(writeStoredUsage({ classes: { input: 3, output: 0 }, reasoning: null, native: {} })).toEqual({
      input: 3,
      output: 0,
    });
  });

  it('is null where there is none, and nothing that is no usage is read', () => {
    expect(readStoredUsage(null, { reasoning: null, native: null })).toBeNull();
    expect(readStoredUsage({ input: '3', others: 'x', prompts: 4 }, { reasoning: null, native: null })).toEqual({
      classes: {},
      reasoning: null,
      native: {},
    });
  });
});
