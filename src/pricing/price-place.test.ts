/** Where a call is served is a part of its price: what is known of a place and has no price there is never `exact`. */
import { describe, expect, it } from 'vitest';
import { billableCall } from '../../test/support/billable-call.ts';
import { formatUsd } from '../vocabulary/usd.ts';
import type { BillableCall } from './billable-call.ts';
import { createPriceBook } from './price-book.ts';

const book = createPriceBook();

const CALL = billableCall({
  provider: 'bedrock',
  endpoint: 'converse',
  model: null,
  modelRequested: null,
  region: 'us-east-1',
  usage: { classes: { input: 1000, output: 1000 }, reasoning: null, native: {} },
});

function price(modelRequested: string, changes: Partial<BillableCall> = {}, by = book) {
  const { costStatus, totalCost, knownCost } = by.priceCall({ ...CALL, modelRequested, ...changes });
  return [costStatus, totalCost === null ? null : formatUsd(totalCost), formatUsd(knownCost)];
}

describe('GovCloud', () => {
  it.each([
    // 3.6 and 18 a million: 1.2 times the global price.
    ['us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', 'us-gov-west-1', '0.0216'],
    ['us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', 'us-east-1', '0.0216'],
    ['anthropic.claude-sonnet-4-5-20250929-v1:0', 'us-gov-east-1', '0.0216'],
    ['us-gov.anthropic.claude-haiku-4-5-20251001-v1:0', 'us-gov-west-1', '0.0072'],
    ['us-gov.anthropic.claude-sonnet-5', 'us-gov-west-1', '0.0144'],
    ['us-gov.openai.gpt-oss-120b-1:0', 'us-gov-west-1', '0.0009'],
    ['us-gov.openai.gpt-oss-120b', 'us-gov-west-1', '0.0009'],
    ['amazon.nova-pro-v1:0', 'us-gov-west-1', '0.0048'],
    ['anthropic.claude-3-5-sonnet-20240620-v1:0', 'us-gov-west-1', '0.0216'],
    ['anthropic.claude-3-haiku-20240307-v1:0', 'us-gov-east-1', '0.0018'],
    ['us-gov.anthropic.claude-opus-5', 'us-gov-west-1', '0.036'],
    ['us-gov.amazon.nova-lite-v1:0', 'us-gov-west-1', '0.00036'],
  ])('has its own price of %s in %s', (model, region, total) => {
    expect(price(model, { region })).toEqual(['exact', total, total]);
  });

  it.each([
    ['us-gov.anthropic.claude-opus-4-1-20250805-v1:0', 'us-gov-west-1'],
    ['us-gov.amazon.nova-premier-v1:0', 'us-gov-west-1'],
    ['us-gov.meta.llama3-3-70b-instruct-v1:0', 'us-gov-west-1'],
    ['amazon.titan-text-express-v1', 'us-gov-east-1'],
    // The commercial profiles have no place in that partition, whatever their name says.
    ['us.anthropic.claude-opus-5', 'us-gov-west-1'],
  ])('has no price of %s in %s that anybody has declared', (model, region) => {
    expect(price(model, { region })).toEqual(['unpriced', null, '0']);
  });
});

describe('long prompts in GovCloud', () => {
  const long = (model: string, region: string, classes: Readonly<Record<string, number>>, isBatch = false) =>
    price(model, { region, isBatch, usage: { classes, reasoning: null, native: {} } });

  it.each([
    // Claude Sonnet 4.5 above 200,000 tokens: 7.2 a million, 9 and 14.4 for writes, 27 for output.
    ['us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', 'us-gov-west-1', { input: 250_000 }, '1.8'],
    ['us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', 'us-gov-east-1', { input: 250_000 }, '1.8'],
    ['us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', 'us-gov-west-1', { input: 200_000 }, '0.72'],
    ['anthropic.claude-sonnet-4-5-20250929-v1:0', 'us-gov-west-1', { input: 200_001 }, '1.4400072'],
    ['anthropic.claude-sonnet-4-5-20250929-v1:0', 'us-gov-east-1', { input: 250_000, output: 1000 }, '1.827'],
    ['anthropic.claude-sonnet-4-5-20250929-v1:0', 'us-gov-east-1', { cache_creation_1h: 250_000 }, '3.6'],
    // Claude Haiku 5.5 above 100,000 tokens: 0.6 a million, 0.06 read, 0.75 and 1.2 for writes, 3 for output.
    ['anthropic.claude-haiku-5-5', 'us-gov-west-1', { input: 150_000 }, '0.09'],
    ['anthropic.claude-haiku-5-5', 'us-gov-east-1', { input: 150_000, output: 1000 }, '0.093'],
    ['anthropic.claude-haiku-5-5', 'us-gov-west-1', { input: 100_000 }, '0.012'],
    ['us-gov.anthropic.claude-haiku-5-5', 'us-gov-west-1', { input: 150_000 }, '0.09'],
    ['us-gov.anthropic.claude-haiku-5-5', 'us-gov-east-1', { cache_creation_1h: 200_000 }, '0.24'],
    ['us-gov.anthropic.claude-haiku-5-5', 'us-east-1', { cache_creation_1h: 200_000 }, '0.24'],
  ])('cost of %s in %s for %o', (model, region, classes, total) => {
    expect(long(model, region, classes)).toEqual(['exact', total, total]);
  });

  it('have no price in a batch of Claude Sonnet 4.5, since no source gives one: short ones have', () => {
    const model = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
    expect(long(model, 'us-east-1', { input: 200_000 }, true)).toEqual(['exact', '0.33', '0.33']);
    expect(long(model, 'us-east-1', { input: 250_000 }, true)).toEqual(['unpriced', null, '0']);
  });
});

describe('regions of Bedrock', () => {
  it.each([
    // 1.1 times the global price within a region, under each of its names.
    ['anthropic.claude-haiku-4-5', 'eu-west-1', '0.0066'],
    ['anthropic.claude-mythos-5-1', 'us-east-1', '0.066'],
    ['nvidia.nemotron-super-3-120b', 'eu-west-2', '0.00124'],
    ['mistral.mixtral-8x7b-instruct-v0:1', 'eu-west-3', '0.0015'],
    ['meta.llama3-70b-instruct-v1:0', 'sa-east-1', '0.01033'],
    ['nvidia.nemotron-super-3-120b', 'us-west-2', '0.0008'],
    ['mistral.mixtral-8x7b-instruct-v0:1', 'us-east-2', '0.00115'],
    // In every region and geography 1.1 times the global price.
    ['anthropic.claude-sonnet-4-5-20250929-v1:0', 'ap-southeast-2', '0.0198'],
    ['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 'eu-central-1', '0.0198'],
    ['us.anthropic.claude-fable-5', 'us-east-1', '0.066'],
    ['eu.anthropic.claude-fable-5', 'eu-west-1', '0.066'],
    ['ca.anthropic.claude-sonnet-5', 'ca-central-1', '0.0132'],
    ['global.anthropic.claude-sonnet-5', 'eu-west-1', '0.012'],
    ['eu.amazon.nova-pro-v1:0', 'eu-west-1', '0.00525'],
    ['apac.amazon.nova-lite-v1:0', 'ap-south-1', '0.000315'],
    ['eu.meta.llama3-2-3b-instruct-v1:0', 'eu-west-1', '0.00038'],
    ['deepseek.v3.2', 'ap-northeast-1', '0.00296'],
  ])('have their price of %s in %s', (model, region, total) => {
    expect(price(model, { region })).toEqual(['exact', total, total]);
  });

  it.each([
    ['nvidia.nemotron-super-3-120b', 'eu-west-3'],
    ['mistral.mixtral-8x7b-instruct-v0:1', 'ap-northeast-1'],
    ['eu.amazon.nova-premier-v1:0', 'eu-west-1'],
    ['apac.amazon.nova-premier-v1:0', 'ap-south-1'],
    ['amazon.nova-pro-v1:0', 'us-west-1'],
    ['eu.meta.llama3-3-70b-instruct-v1:0', 'eu-west-1'],
    ['global.amazon.nova-pro-v1:0', 'us-east-1'],
    ['global.anthropic.claude-opus-4-1-20250805-v1:0', 'us-east-1'],
    ['anthropic.claude-sonnet-4-5-20250929-v1:0', 'cn-north-1'],
    ['anthropic.claude-sonnet-4-5-20250929-v1:0', 'eusc-de-east-1'],
    ['openai.gpt-oss-120b-1:0', 'eu-north-1'],
  ])('do not lend %s the price of another place in %s', (model, region) => {
    expect(price(model, { region })).toEqual(['unpriced', null, '0']);
  });

  it('have what the operator declares, wherever it is', () => {
    const declared = createPriceBook({
      operator: {
        prices: [
          {
            id: 1,
            provider: 'bedrock',
            providerAlias: null,
            match: 'exact',
            model: 'eu.amazon.nova-premier-v1:0',
            serviceTier: 'standard',
            promptTier: null,
            validFromMs: null,
            validToMs: null,
            rates: { input: '1.05', output: '4.2' },
          },
        ],
        mappings: [],
        multipliers: [],
      },
    });
    expect(price('eu.amazon.nova-premier-v1:0', { region: 'eu-west-1' }, declared)).toEqual([
      'exact',
      '0.00525',
      '0.00525',
    ]);
  });

  it('name in the line the row of the place', () => {
    const { lines } = book.priceCall({
      ...CALL,
      modelRequested: 'nvidia.nemotron-super-3-120b',
      region: 'eu-west-2',
    });
    expect(lines.map(({ row }) => row)).toEqual([
      'overlay/bedrock/eu-west-2/nvidia.nemotron-super-3-120b/input',
      'overlay/bedrock/eu-west-2/nvidia.nemotron-super-3-120b/output',
    ]);
  });
});

describe("OpenAI's data residency", () => {
  const at = (region: string | null, model: string, changes: Partial<BillableCall> = {}) =>
    price(model, { provider: 'openai', model, region, ...changes });

  it('costs a tenth more on models since 2026-03-05, and nothing on older ones', () => {
    // 2.5 and 15 a million: 0.0175.
    expect(at(null, 'gpt-5.4')).toEqual(['exact', '0.0175', '0.0175']);
    expect(at('eu', 'gpt-5.4')).toEqual(['exact', '0.01925', '0.01925']);
    expect(at('us', 'gpt-5.4-2026-03-05')).toEqual(['exact', '0.01925', '0.01925']);
    expect(at('jp', 'gpt-5.4', { serviceTier: 'flex' })).toEqual(['exact', '0.009625', '0.009625']);
    expect(at('eu', 'gpt-4o')).toEqual(['exact', '0.0125', '0.0125']);
    expect(at('eu', 'gpt-5-mini-2025-08-07')).toEqual(['exact', '0.00225', '0.00225']);
  });

  it('has no price where nobody says when the model was released, nor at another seller', () => {
    expect(at('eu', 'gpt-audio-1.5')).toEqual(['unpriced', null, '0']);
    expect(at('us-east-1', 'gpt-5.4')).toEqual(['unpriced', null, '0']);
  });

  it('leaves the price of a tool as it is', () => {
    const usage = { classes: { input: 1000, web_search_requests: 1 }, reasoning: null, native: {} };
    // 1,000 × $2.75 a million + $10 a thousand.
    expect(at('eu', 'gpt-5.4', { usage })).toEqual(['exact', '0.01275', '0.01275']);
  });
});

describe('a host that is not the provider’s', () => {
  const azure = {
    provider: 'openai',
    model: 'gpt-4o',
    region: 'acme.openai.azure.com',
    providerAlias: 'azure',
  } as const;
  const SCOPE = { id: 1, provider: 'openai', validFromMs: null, validToMs: null } as const;

  it('is another seller, whose prices nobody has declared', () => {
    expect(price('gpt-4o', azure)).toEqual(['unpriced', null, '0']);
    expect(price('claude-opus-5', { ...azure, provider: 'anthropic', model: 'claude-opus-5' })[0]).toBe('unpriced');
  });

  it('has list prices where the operator says so for its alias, and only there', () => {
    const of = (providerAlias: string | null) =>
      createPriceBook({
        operator: { prices: [], mappings: [], multipliers: [{ ...SCOPE, providerAlias, factor: '1.1' }] },
      });
    // 2.5 and 10 a million: 0.0125.
    expect(price('gpt-4o', azure, of('azure'))).toEqual(['exact', '0.01375', '0.01375']);
    expect(price('gpt-4o', azure, of(null))).toEqual(['unpriced', null, '0']);
  });

  it('leaves Anthropic’s own platform on AWS at its list prices', () => {
    const onAws = { provider: 'anthropic', model: 'claude-opus-5', region: 'us-west-2' } as const;
    expect(price('claude-opus-5', onAws)).toEqual(['exact', '0.03', '0.03']);
  });
});

describe('service tiers of Bedrock', () => {
  it('have the price that AWS lists for the model, and none for others', () => {
    const usage = { classes: { input: 1000, output: 1000 }, reasoning: null, native: {} };
    // 0.07 and 0.30 a million: 0.00037.
    expect(price('openai.gpt-oss-20b-1:0', { usage, serviceTier: 'flex' })).toEqual(['exact', '0.000185', '0.000185']);
    expect(price('openai.gpt-oss-20b-1:0', { usage, serviceTier: 'priority' })).toEqual([
      'exact',
      '0.0006475',
      '0.0006475',
    ]);
    expect(price('amazon.nova-pro-v1:0', { usage, serviceTier: 'flex' })).toEqual(['exact', '0.002', '0.002']);
    expect(price('amazon.nova-premier-v1:0', { usage, serviceTier: 'flex' })).toEqual(['unpriced', null, '0']);
  });
});

describe('a reranker of Bedrock', () => {
  it('costs by the query', () => {
    const usage = { classes: { rerank_queries: 1 }, reasoning: null, native: {} };
    const ranked = { usage, usageSource: 'request', endpoint: 'invoke' } as const;
    expect(price('cohere.rerank-v3-5:0', ranked)).toEqual(['exact', '0.002', '0.002']);
    expect(price('amazon.rerank-v1:0', ranked)).toEqual(['exact', '0.001', '0.001']);
    expect(price('amazon.rerank-v2:0', ranked)).toEqual(['unpriced', null, '0']);
  });
});

describe("Fireworks' address for the United States", () => {
  const us = { provider: 'fireworks', region: 'us' } as const;

  it('has the prices of the models that are for it, and none of the others', () => {
    expect(price('accounts/fireworks/models/glm-5p3-us', us)).toEqual(['exact', '0.0087', '0.0087']);
    expect(price('accounts/fireworks/models/glm-5p3-us', { ...us, region: null })).toEqual([
      'exact',
      '0.0087',
      '0.0087',
    ]);
    expect(price('accounts/fireworks/models/glm-5p3', us)).toEqual(['unpriced', null, '0']);
  });

  it.each([
    ['accounts/fireworks/models/glm-5p3-flash', '0.00065', null],
    ['accounts/fireworks/models/glm-5p2-fast', '0.0087', null],
    ['accounts/fireworks/models/ultramarine-1-flash-us', '0.00065', '0.00065'],
    ['accounts/fireworks/models/glm-5p2-fast-us', '0.0087', '0.0087'],
  ])('has of %s the price of its own row, although another model costs as much', (model, elsewhere, there) => {
    expect(price(model, { ...us, region: null })[1]).toBe(elsewhere);
    expect(price(model, us)).toEqual(there === null ? ['unpriced', null, '0'] : ['exact', there, there]);
  });

  it('has the priority price of the models that are for it, and none of the others', () => {
    const asked = { ...us, serviceTier: 'priority' };
    // 0.1875 and 0.625 a million.
    expect(price('accounts/fireworks/models/ultramarine-1-flash-us', asked)[1]).toBe('0.0008125');
    expect(price('accounts/fireworks/models/glm-5p3-flash', { ...asked, region: null })[1]).toBe('0.0008125');
    expect(price('accounts/fireworks/models/glm-5p3-flash', asked)).toEqual(['unpriced', null, '0']);
  });
});
