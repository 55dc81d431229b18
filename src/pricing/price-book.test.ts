import { describe, expect, it } from 'vitest';
import { billableCall, usageOf } from '../../test/support/billable-call.ts';
import type { TokenUsage } from '../vocabulary/token-usage.ts';
import { formatUsd, parseUsd } from '../vocabulary/usd.ts';
import type { BillableCall } from './billable-call.ts';
import { createPriceBook } from './price-book.ts';

const book = createPriceBook();

function createCall(changes: Partial<BillableCall> = {}): BillableCall {
  return billableCall({
    provider: 'openai',
    requestedAtMs: Date.UTC(2026, 8, 23, 12),
    model: 'gpt-4o-mini-2024-07-18',
    modelRequested: 'gpt-4o-mini',
    usage: usageOf({ input: 1200, output: 350 }),
    ...changes,
  });
}

function readCost(changes: Partial<BillableCall>): readonly [string, string | null] {
  const { costStatus, totalCost } = book.priceCall(createCall(changes));
  return [costStatus, totalCost === null ? null : formatUsd(totalCost)];
}

describe('a priced call', () => {
  it('is not known to be free because its host reports zeros, unless it is a batch, failed or asked for none', () => {
    const usage = usageOf({ input: 0, output: 0 });
    expect(readCost({ usage })).toEqual(['partial', null]);
    expect(readCost({ usage: usageOf({ input: 0, output: 1_000_000 }) })).toEqual(['exact', '0.6']);
    expect(readCost({ usage, outcome: 'upstream_stream_error' })).toEqual(['exact', '0']);
    expect(readCost({ usage, isBatch: true })).toEqual(['exact', '0']);
    expect(readCost({ usage, isPrewarm: true })).toEqual(['exact', '0']);
  });

  it('of a fetched result has its answer’s model, and is not known whole where that leaves out geography or account', () => {
    const usage = usageOf({ input: 1_000_000, output: 1_000_000 });
    const model = 'openai.gpt-oss-120b-1:0';
    const atBedrock: Partial<BillableCall> = { provider: 'bedrock', region: 'us-east-1', usage };
    expect(readCost({ ...atBedrock, model, modelRequested: model })).toEqual(['exact', '0.75']);
    const fetched = book.priceCall(createCall({ ...atBedrock, model, modelRequested: null }));
    expect(fetched).toMatchObject({ billingModel: model, costStatus: 'partial', knownCost: parseUsd('0.75') });
    const atFireworks: Partial<BillableCall> = {
      provider: 'fireworks',
      model: 'accounts/fireworks/models/gpt-oss-120b',
      usage,
    };
    expect(readCost({ ...atFireworks, modelRequested: null })).toEqual(['partial', null]);
    // These answers say all that is billed.
    expect(readCost({ modelRequested: null })).toEqual(['exact', '0.00039']);
  });

  it('shows how each amount came about, and the lines add up to the total', () => {
    expect(book.priceCall(createCall())).toEqual({
      billingModel: 'gpt-4o-mini-2024-07-18',
      costStatus: 'exact',
      totalCost: parseUsd('0.00039'),
      knownCost: parseUsd('0.00039'),
      inputCost: parseUsd('0.00018'),
      cacheReadCost: null,
      cacheCreationCost: null,
      outputCost: parseUsd('0.00021'),
      otherCost: null,
      lines: [
        {
          class: 'input',
          quantity: 1200,
          unit: 'token',
          rate: '0.15',
          per: 1_000_000,
          multiplier: '1',
          amount: '0.00018',
          layer: 'catalog',
          row: 'catalog/openai/gpt-4o-mini/input',
          rated_as: 'input',
        },
        {
          class: 'output',
          quantity: 350,
          unit: 'token',
          rate: '0.6',
          per: 1_000_000,
          multiplier: '1',
          amount: '0.00021',
          layer: 'catalog',
          row: 'catalog/openai/gpt-4o-mini/output',
          rated_as: 'output',
        },
      ],
      priceVersion: book.version,
    });
  });

  it('names the rules that took part', () => {
    const usage = usageOf({ cache_creation_1h: 10_000 });
    const model = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
    expect(book.priceCall(createCall({ provider: 'bedrock', modelRequested: model, usage })).lines).toEqual([
      {
        class: 'cache_creation_1h',
        quantity: 10_000,
        unit: 'token',
        rate: '1.1',
        per: 1_000_000,
        multiplier: '2',
        amount: '0.022',
        layer: 'overlay',
        row: 'catalog/bedrock/regional.anthropic.claude-haiku-4-5-20251001-v1:0/input × overlay/bedrock/claude-1h-write',
        rated_as: 'input',
      },
    ]);
  });

  it('tells a reported zero from a class that was not reported', () => {
    const usage = usageOf({ input: 1200, cache_read: 0, output: 0 });
    expect(book.priceCall(createCall({ usage }))).toMatchObject({
      costStatus: 'exact',
      inputCost: 180_000_000n,
      cacheReadCost: 0n,
      cacheCreationCost: null,
      outputCost: 0n,
    });
  });
});

describe('what is not known', () => {
  it('is null for an unknown model, never 0', () => {
    expect(readCost({ model: 'gpt-99-mystery' })).toEqual(['unpriced', null]);
    expect(readCost({ model: null, modelRequested: null })).toEqual(['unpriced', null]);
    expect(readCost({ model: 'x'.repeat(100_000) })).toEqual(['unpriced', null]);
  });

  it('keeps the known part when one class has no price', () => {
    const usage = usageOf({ input: 1200, output: 350, output_audio: 10 });
    expect(book.priceCall(createCall({ usage }))).toMatchObject({
      costStatus: 'partial',
      totalCost: null,
      knownCost: 390_000_000n,
      inputCost: 180_000_000n,
      outputCost: null,
    });
  });

  it('keeps the known part when the answer ended early', () => {
    expect(book.priceCall(createCall({ usageSource: 'partial', outcome: 'client_closed' }))).toMatchObject({
      costStatus: 'partial',
      totalCost: null,
      knownCost: 390_000_000n,
    });
  });

  it('is not made up from the standard price for a tier, a speed or a place that has no declared price', () => {
    expect(readCost({ serviceTier: 'scale' })).toEqual(['unpriced', null]);
    expect(readCost({ provider: 'anthropic', model: 'claude-haiku-4-5', speed: 'fast' })).toEqual(['unpriced', null]);
    expect(readCost({ provider: 'anthropic', model: 'claude-opus-5', inferenceGeo: 'mars' })).toEqual([
      'unpriced',
      null,
    ]);
    expect(readCost({ provider: 'together', modelRequested: null, model: 'zai-org/GLM-5.2', isBatch: true })).toEqual([
      'unpriced',
      null,
    ]);
  });

  it('says so when an answer that may have cost something reported nothing', () => {
    for (const outcome of ['ok', 'client_closed', 'upstream_truncated', 'interrupted', 'upstream_unreachable'] as const)
      expect(readCost({ usage: null, usageSource: 'none', outcome })).toEqual(['no_usage', null]);
    expect(readCost({ usage: usageOf({}) })).toEqual(['no_usage', null]);
  });

  it('says so when nobody knows the endpoint', () => {
    const nothing = { endpoint: 'unknown', usage: null, usageSource: 'none' } as const;
    expect(readCost(nothing)).toEqual(['unpriced', null]);
    expect(readCost({ ...nothing, outcome: 'client_closed' })).toEqual(['unpriced', null]);
    expect(readCost({ ...nothing, outcome: 'upstream_error', status: 404 })).toEqual(['not_billed', '0']);
  });

  it('is 0 only when nothing billable happened', () => {
    expect(readCost({ billed: false })).toEqual(['not_billed', '0']);
    const nothing = { usage: null, usageSource: 'none' } as const;
    expect(readCost({ ...nothing, isBilledElsewhere: true })).toEqual(['not_billed', '0']);
    expect(readCost({ ...nothing, isPrewarm: true })).toEqual(['no_usage', null]);
    expect(readCost({ ...nothing, outcome: 'upstream_error', status: 429 })).toEqual(['not_billed', '0']);
    expect(readCost({ ...nothing, outcome: 'rejected', status: 400 })).toEqual(['not_billed', '0']);
    expect(readCost({ ...nothing, status: 307 })).toEqual(['not_billed', '0']);
    expect(readCost({ ...nothing, status: 299 })).toEqual(['no_usage', null]);
    expect(readCost({ ...nothing, outcome: 'upstream_unreachable', errorType: 'upstream_name' })).toEqual([
      'not_billed',
      '0',
    ]);
    expect(readCost({ ...nothing, outcome: 'upstream_unreachable', errorType: 'upstream_timeout' })).toEqual([
      'no_usage',
      null,
    ]);
  });

  it('does not hide usage behind an error: what was reported is priced', () => {
    expect(readCost({ outcome: 'upstream_error', status: 500 })).toEqual(['exact', '0.00039']);
  });
});

describe('what is no token', () => {
  const at = (model: string, classes: TokenUsage['classes']) => readCost({ model, usage: usageOf(classes) });

  it('is billed by the minute, by the character and by the call', () => {
    expect(at('whisper-1', { input_audio_ms: 125_000 })).toEqual(['exact', '0.0125']);
    expect(at('gpt-transcribe', { input_audio_ms: 60_000 })).toEqual(['exact', '0.0045']);
    expect(at('tts-1', { input_characters: 1_800 })).toEqual(['exact', '0.027']);
    expect(at('tts-1-hd-1106', { input_characters: 1 })).toEqual(['exact', '0.00003']);
    expect(at('gpt-5', { web_search_requests: 3, file_search_requests: 4 })).toEqual(['exact', '0.04']);
    expect(at('o3-deep-research', { web_search_requests: 100 })).toEqual(['exact', '1']);
  });

  it('costs the same in a batch and on every tier', () => {
    const usage = usageOf({ web_search_requests: 1 });
    for (const changes of [{ isBatch: true }, { serviceTier: 'flex' }, { serviceTier: 'priority' }])
      expect(readCost({ model: 'gpt-5', usage, ...changes })).toEqual(['exact', '0.01']);
  });

  it('stays without a price where none is published for the unit', () => {
    expect(at('gpt-5', { code_execution_requests: 1 })).toEqual(['unpriced', null]);
    expect(at('dall-e-3', { output_images: 2 })).toEqual(['unpriced', null]);
    expect(at('gpt-4o-mini-tts', { input_characters: 20 })).toEqual(['unpriced', null]);
    expect(at('gpt-4o-search-preview', { input: 1_000, web_search_requests: 1 })).toEqual(['partial', null]);
  });
});

describe('pictures and sound by tokens', () => {
  const at = (model: string, classes: TokenUsage['classes']) => readCost({ model, usage: usageOf(classes) });

  it('have rates of their own', () => {
    const drawn = { input: 50, input_image: 300, output_image: 4_160 };
    expect(at('gpt-image-2', drawn)).toEqual(['exact', '0.12745']);
    expect(at('gpt-image-2.6-sunburst', drawn)).toEqual(['exact', '0.12745']);
    expect(at('gpt-4o-mini-tts-2025-12-15', { input: 14, output_audio: 101 })).toEqual(['exact', '0.0012204']);
    expect(at('gpt-4o-transcribe', { input: 20, input_audio: 1_380, output: 310 })).toEqual(['exact', '0.0066']);
    expect(at('gpt-4o-mini-transcribe-2025-12-15', { input_audio: 1_000_000 })).toEqual(['exact', '1.25']);
    expect(at('gpt-4o-audio-preview', { input_audio: 1_000_000, output_audio: 1_000_000 })).toEqual(['exact', '120']);
  });

  it('cost what text costs where a text model looks at a picture', () => {
    expect(at('gpt-5', { input: 500_000, input_image: 500_000 })).toEqual(['exact', '1.25']);
    expect(at('gpt-audio', { input_image: 1 })).toEqual(['unpriced', null]);
  });

  it('of another model within the call are billed at its rates, and not at all when it is not named', () => {
    const others = (model: string) => [{ purpose: 'image_generation', model, classes: { output_image: 1_000_000 } }];
    const usage = (model: string) => ({ ...usageOf({ input: 1_000_000 }), others: others(model) });
    expect(readCost({ model: 'gpt-5', usage: usage('gpt-image-2') })).toEqual(['exact', '31.25']);
    expect(readCost({ model: 'gpt-5', usage: usage('unknown') })).toEqual(['partial', null]);
  });
});

describe('the model that is billed', () => {
  it('is the served one, or the requested one at providers whose answers do not name it fully', () => {
    const read = (changes: Partial<BillableCall>) => book.priceCall(createCall(changes)).billingModel;
    expect(read({ model: null })).toBe('gpt-4o-mini');
    expect(read({ provider: 'gemini', model: null, modelRequested: 'models/gemini-2.5-flash' })).toBe(
      'gemini-2.5-flash',
    );
    expect(
      read({ provider: 'bedrock', model: 'claude-opus-4-8', modelRequested: 'eu.anthropic.claude-opus-4-8' }),
    ).toBe('eu.anthropic.claude-opus-4-8');
    expect(
      read({
        provider: 'bedrock',
        modelRequested: 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-lite-v1:0',
      }),
    ).toBe('us.amazon.nova-lite-v1:0');
  });

  it('is nobody known for an opaque ARN, even when its name looks like a model', () => {
    const usage = usageOf({ input: 1 });
    for (const kind of ['application-inference-profile', 'provisioned-model', 'custom-model', 'imported-model']) {
      const modelRequested = `arn:aws:bedrock:us-east-1:123456789012:${kind}/a1b2c3`;
      expect(readCost({ provider: 'bedrock', modelRequested, usage })).toEqual(['unpriced', null]);
    }
  });

  it('is the other one for a name that its provider has redirected, from that day on', () => {
    const call = { provider: 'deepseek', model: 'deepseek-chat', usage: usageOf({ input: 1_000_000 }) } as const;
    expect(readCost({ ...call, requestedAtMs: Date.UTC(2025, 8, 10) })).toEqual(['exact', '0.56']);
    expect(readCost({ ...call, requestedAtMs: Date.UTC(2026, 0, 10) })).toEqual(['exact', '0.28']);
    expect(readCost({ ...call, requestedAtMs: Date.UTC(2026, 5, 10, 2) })).toEqual(['exact', '0.14']);
    expect(readCost({ ...call, requestedAtMs: Date.UTC(2026, 7, 26, 2) })).toEqual(['exact', '0.44']);
    // The other one has become a name itself.
    expect(readCost({ ...call, requestedAtMs: Date.UTC(2026, 8, 10, 4) - 1 })).toEqual(['exact', '0.44']);
    expect(readCost({ ...call, requestedAtMs: Date.UTC(2026, 8, 10, 4) })).toEqual(['exact', '0.15']);
  });
});

describe('tiers, terms and hours', () => {
  it('take the long price for every class from one token above the threshold, the cache counted in', () => {
    const model = 'gpt-5.6-sol';
    const short = usageOf({ input: 2_000, cache_read: 268_000, cache_creation_30m: 2_000, output: 1_000 });
    const long = usageOf({ input: 2_001, cache_read: 268_000, cache_creation_30m: 2_000, output: 1_000 });
    expect(readCost({ model, usage: short })).toEqual(['exact', '0.1452']);
    expect(readCost({ model, usage: long })).toEqual(['exact', '0.280408']);
  });

  it('multiply where the provider says they do', () => {
    const usage = usageOf({ input: 1_000_000 });
    const call = { provider: 'anthropic', model: 'claude-opus-4-8', usage } as const;
    expect(readCost({ ...call, speed: 'fast', inferenceGeo: 'us' })).toEqual(['exact', '11']);
    expect(readCost({ ...call, serviceTier: 'batch', inferenceGeo: 'us' })).toEqual(['exact', '2.75']);
  });

  it('give cached tokens in a batch the discount only where the price list does', () => {
    const call = { isBatch: true, usage: usageOf({ cache_read: 1_000_000 }) } as const;
    expect(readCost({ ...call, model: 'gpt-5' })).toEqual(['exact', '0.0625']);
    expect(readCost({ ...call, model: 'gpt-4o-mini' })).toEqual(['exact', '0.075']);
    expect(readCost({ ...call, provider: 'gemini', model: 'gemini-2.5-flash' })).toEqual(['exact', '0.03']);
    expect(readCost({ ...call, provider: 'gemini', model: 'gemini-3.7-flash' })).toEqual(['exact', '0.0375']);
  });

  it('prefer the published figure of a tier over the rule, and do not stretch it beyond its range', () => {
    const cached = (quantity: number) => usageOf({ cache_read: quantity });
    expect(readCost({ model: 'gpt-5.4', serviceTier: 'flex', usage: cached(200_000) })).toEqual(['exact', '0.026']);
    expect(readCost({ model: 'gpt-5.4', serviceTier: 'flex', usage: cached(300_000) })).toEqual(['exact', '0.075']);
    expect(readCost({ model: 'gpt-5.4', serviceTier: 'fast', usage: cached(200_000) })).toEqual(['exact', '0.1']);
    expect(readCost({ model: 'gpt-5.4', serviceTier: 'fast', usage: cached(300_000) })).toEqual(['unpriced', null]);
  });

  it('change at the very millisecond', () => {
    const call = { provider: 'deepseek', model: 'deepseek-v4-pro', usage: usageOf({ output: 1_000_000 }) } as const;
    const at = (iso: string) => readCost({ ...call, requestedAtMs: Date.parse(iso) })[1];
    expect(at('2026-08-16T15:59:59.999Z')).toBe('0.87');
    expect(at('2026-08-16T16:00:00.000Z')).toBe('1.98');
    expect(at('2026-08-17T00:59:59.999Z')).toBe('1.98');
    expect(at('2026-08-17T01:00:00.000Z')).toBe('3.96');
    expect(at('2026-08-17T04:00:00.000Z')).toBe('1.98');
    expect(at('2026-08-17T09:59:59.999Z')).toBe('3.96');
    expect(at('2026-08-17T10:00:00.000Z')).toBe('1.98');
    // The first weekend was still peak; weekends are free of peaks since 2026-08-23 in Beijing.
    expect(at('2026-08-22T02:00:00.000Z')).toBe('3.96');
    expect(at('2026-08-23T02:00:00.000Z')).toBe('1.98');
  });
});

describe('a sum over several prompts', () => {
  const sonnet = { provider: 'anthropic', model: 'claude-sonnet-4-5-20250929', isBatch: true } as const;
  const sum = usageOf({ input: 900_000, output: 1_000 });

  it('is priced by its largest prompt, and not by the sum of all', () => {
    // 0.9 million at $3 and a thousandth of a million at $15, both at half price.
    expect(readCost({ ...sonnet, usage: { ...sum, largestPrompt: 200_000 } })).toEqual(['exact', '1.3575']);
    // Above 200,000 tokens: $6 and $22.50.
    expect(readCost({ ...sonnet, usage: { ...sum, largestPrompt: 200_001 } })).toEqual(['exact', '2.71125']);
  });

  it('has no price where the answer names another tier as well', () => {
    const batch = { model: 'gpt-5.4', isBatch: true, usage: usageOf({ input: 1_000, output: 1_000 }) } as const;
    expect(readCost({ ...batch, serviceTier: 'default' })).toEqual(['exact', '0.00875']);
    for (const serviceTier of ['priority', 'flex', 'fast'])
      expect(readCost({ ...batch, serviceTier })).toEqual(['unpriced', null]);
  });

  it('has no rate where the size of the prompt decides and nobody reports the sizes', () => {
    const batch = { model: 'gpt-5.4', isBatch: true } as const;
    const summed = (input: number) => ({ ...usageOf({ input, output: 1_000 }), hasUnknownPrompts: true }) as const;
    // Up to 272,000 tokens in all, none of the prompts can be longer: $2.50 and $15, at half price.
    expect(readCost({ ...batch, usage: summed(272_000) })).toEqual(['exact', '0.3475']);
    expect(readCost({ ...batch, usage: summed(272_001) })).toEqual(['unpriced', null]);
    // One price for prompts of all sizes.
    expect(readCost({ ...batch, model: 'gpt-4o', usage: summed(1_000_000) })).toEqual(['exact', '1.255']);
  });

  it('holds for each of the other models in the same way', () => {
    const other = { purpose: 'batch', model: 'claude-sonnet-4-5', classes: sum.classes, largestPrompt: 300 };
    const usage = { ...usageOf({ input: 1_000_000 }), largestPrompt: 20, others: [other] };
    expect(readCost({ ...sonnet, usage })).toEqual(['exact', '2.8575']);
  });
});

describe('usage that is not all that is billed', () => {
  it('is never the whole cost, however many of its classes have a price', () => {
    const usage: TokenUsage = { ...usageOf({ input: 1_000_000 }), isIncomplete: true };
    expect(readCost({ model: 'gpt-4o', usage })).toEqual(['partial', null]);
  });

  it('prices what was served on other terms by those', () => {
    const flex = { serviceTier: 'flex', speed: null, inferenceGeo: null };
    const turn = { purpose: 'turns', model: null, classes: { input: 1_000 }, terms: flex };
    const usage = { ...usageOf({ input: 1_000 }), others: [turn] };
    // 1,000 at $2.50 a million, and 1,000 at half of that.
    expect(readCost({ model: 'gpt-5.4', usage })).toEqual(['exact', '0.00375']);
    expect(readCost({ model: 'gpt-5.4', serviceTier: 'fast', usage })).toEqual(['exact', '0.00625']);
  });
});

describe('a request that was refused before anything was answered', () => {
  const usage: TokenUsage = { ...usageOf({ input: 106, output: 1 }), isRefused: true };
  const refused = { provider: 'anthropic', model: 'claude-sonnet-4-5', usage } as const;

  it('costs nothing at Anthropic, since it says so', () => {
    expect(readCost(refused)).toEqual(['not_billed', '0']);
    expect(readCost({ ...refused, requestedAtMs: Date.UTC(2026, 5, 1) })).toEqual(['exact', '0.000333']);
  });

  it('costs what it reports where nobody says otherwise', () => {
    const model = 'anthropic.claude-haiku-4-5-20251001-v1:0';
    expect(readCost({ ...refused, provider: 'bedrock', model: null, modelRequested: model })[0]).toBe('exact');
  });
});
