/**
 * The results of a batch come as one record. Its prompts are summed by how long they are, so that each has the rate of
 * its own length: the lengths are the formats' own, and the price book must know no others.
 */
import { expect, it } from 'vitest';
import { messageBatch, PROMPT_STEPS } from '../../src/formats/usage/message-batch.ts';
import { NOTHING_REPORTED } from '../../src/formats/usage/reported-usage.ts';
import { createCatalog } from '../../src/pricing/catalog.ts';
import { OVERLAY_RATE_CARDS } from '../../src/pricing/overlay-rate-cards.ts';
import { createPriceBook } from '../../src/pricing/price-book.ts';
import { toBillableCall } from '../../src/pricing/to-billable-call.ts';
import { formatUsd } from '../../src/vocabulary/usd.ts';
import { callBegin, callEnd, NOON_MS } from '../support/call-fixtures.ts';

/** Whose batches are read line by line. */
const PROVIDERS = ['anthropic', 'gemini'] as const;
/** Gone before there were batches of it. */
const RETIRED = /gemini-(?:flash-|pro-)?1\.5/;

it('has a step wherever a rate of these providers changes', () => {
  const catalog = createCatalog();
  const tiers = [
    ...PROVIDERS.flatMap((provider) => catalog.listModels(provider))
      .filter(({ id }) => !RETIRED.test(id))
      .flatMap((model) => model.rows())
      .map(({ promptTier }) => promptTier),
    ...OVERLAY_RATE_CARDS.filter((card) => PROVIDERS.some((name) => name === card.provider))
      .filter(({ name }) => !RETIRED.test(name))
      .map(({ promptTier }) => promptTier ?? null),
  ];
  const starts = new Set(tiers.flatMap((tier) => (tier === null || tier.overTokens < 0 ? [] : [tier.overTokens])));
  expect([...starts].sort((a, b) => a - b)).toEqual(PROMPT_STEPS);
});

it('prices each line of a batch at the rate of its own length', () => {
  const line = (tokens: number) => ({
    result: {
      type: 'succeeded',
      message: {
        type: 'message',
        model: 'claude-haiku-5-5',
        content: [{ type: 'text', text: '' }],
        usage: { input_tokens: tokens, output_tokens: 1_000, service_tier: 'batch' },
      },
    },
  });
  const { usage, serviceTier } = [100_000, 100_001, 150_000]
    .map(line)
    .reduce((sum, data) => messageBatch.readEvent(null, data, sum), NOTHING_REPORTED);
  const begin = callBegin(1, { provider: 'anthropic', endpoint: 'messages.batches.results', isBatch: true });
  const end = callEnd(1, { model: 'claude-haiku-5-5', modelRequested: null, serviceTier, usage });
  const { totalCost } = createPriceBook().priceCall(toBillableCall({ ...begin, requestedAtMs: NOON_MS }, end));
  // Half of 100,000 × $0.1 + 1,000 × $0.5, and of 250,001 × $0.5 + 2,000 × $2.5, for a million each.
  expect(totalCost === null ? null : formatUsd(totalCost)).toBe('0.07025025');
});
