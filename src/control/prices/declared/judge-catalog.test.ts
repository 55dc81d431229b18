import { describe, expect, it } from 'vitest';
import { BUNDLED_CATALOG, type CatalogData } from '../../../pricing/catalog.ts';
import { parseCatalog } from '../../../pricing/parse-catalog.ts';
import { readGoldenCosts } from './golden-costs.ts';
import { judgeCatalog } from './judge-catalog.ts';

type Prices = Readonly<Record<string, unknown>>;

function catalogOf(
  providers: Readonly<Record<string, Readonly<Record<string, Prices | readonly Prices[]>>>>,
): CatalogData {
  const text = JSON.stringify(
    Object.entries(providers).map(([id, models]) => ({
      id,
      models: Object.entries(models).map(([model, prices]) => ({ id: model, match: { equals: model }, prices })),
    })),
  );
  const parsed = parseCatalog(text, 'prices.json', '2026-11-28');
  if (!parsed.isOk) throw new Error(parsed.problem);
  return parsed.data;
}

const MINI = { input_mtok: 0.15, output_mtok: 0.6 };
const SONNET = { input_mtok: 3, cache_read_mtok: 0.3, cache_write_mtok: 3.75, cache_write_1h_mtok: 6, output_mtok: 15 };
const BEFORE = catalogOf({ openai: { 'gpt-4o-mini': MINI }, anthropic: { 'claude-sonnet-4-6': SONNET } });

/** The refusals of `gpt-4o-mini` at other prices. */
function judgeMini(prices: Prices | readonly Prices[], before = BEFORE): readonly string[] {
  const after = catalogOf({ openai: { 'gpt-4o-mini': prices }, anthropic: { 'claude-sonnet-4-6': SONNET } });
  return judgeCatalog(before, after, []).refusals.map(({ gate, text }) => `${gate}: ${text}`);
}

function judgeSonnet(prices: Prices): readonly string[] {
  const after = catalogOf({ openai: { 'gpt-4o-mini': MINI }, anthropic: { 'claude-sonnet-4-6': prices } });
  return judgeCatalog(BEFORE, after, []).refusals.map(({ gate, text }) => `${gate}: ${text}`);
}

describe('a new catalog', () => {
  it('passes with new models, new classes and prices that moved by five times or less', () => {
    const after = catalogOf({
      openai: { 'gpt-4o-mini': { input_mtok: 0.75, cache_read_mtok: 0.075, output_mtok: 0.12 }, 'gpt-9': MINI },
      anthropic: { 'claude-sonnet-4-6': SONNET },
    });
    expect(judgeCatalog(BEFORE, after, []).refusals).toEqual([]);
  });

  it('is compared in exact decimals, rate by rate', () => {
    const after = catalogOf({
      openai: { 'gpt-9': { input_mtok: 7.5e-7 }, 'gpt-4o-mini': { input_mtok: 0.1, output_mtok: 0.6 } },
      anthropic: { 'claude-sonnet-4-6': SONNET },
    });
    expect(judgeCatalog(BEFORE, after, []).changes).toMatchObject({
      added: [{ provider: 'openai', model: 'gpt-9' }],
      lost: [],
      rates: [
        {
          provider: 'openai',
          model: 'gpt-4o-mini',
          usageClass: 'input',
          per: 1_000_000,
          fromMs: null,
          overTokens: null,
          before: 150_000_000_000_000_000n,
          after: 100_000_000_000_000_000n,
        },
      ],
      modelsBefore: { openai: 1, anthropic: 1, gemini: 0, bedrock: 0, fireworks: 0, together: 0, deepseek: 0 },
    });
  });

  it('may not make free what had a price', () => {
    expect(judgeMini({ input_mtok: 0, output_mtok: 0.6 })).toEqual([
      'free: openai gpt-4o-mini: input would be free; it costs $0.15 a million',
    ]);
  });

  it('may have a new model that is free', () => {
    const after = catalogOf({
      openai: { 'gpt-4o-mini': MINI, 'omni-moderation': { input_mtok: 0 } },
      anthropic: { 'claude-sonnet-4-6': SONNET },
    });
    expect(judgeCatalog(BEFORE, after, []).refusals).toEqual([]);
  });

  it('may not move a price by more than five times, up or down', () => {
    expect(judgeMini({ input_mtok: 0.7500001, output_mtok: 0.1199999 })).toEqual([
      'jump: openai gpt-4o-mini: input would go from $0.15 a million to $0.7500001 a million, by more than 5 times',
      'jump: openai gpt-4o-mini: output would go from $0.6 a million to $0.1199999 a million, by more than 5 times',
    ]);
  });

  it('may not hide a jump behind a date, a size of the prompt or an hour of the day', () => {
    const dated = [{ prices: MINI }, { constraint: { start_date: '2026-12-01' }, prices: { ...MINI, input_mtok: 15 } }];
    expect(judgeMini(dated)).toEqual([
      'jump: openai gpt-4o-mini: input from 2026-12-01 would go from $0.15 a million to $15 a million, by more than 5 times',
    ]);
    const tiered = { ...MINI, output_mtok: { base: 0.6, tiers: [{ start: 200_000, price: 6 }] } };
    expect(judgeMini(tiered)).toEqual([
      'jump: openai gpt-4o-mini: output over 200000 prompt tokens would go from $0.6 a million to $6 a million, by more than 5 times',
    ]);
    const hourly = [
      { prices: MINI },
      { constraint: { start_time: '06:00:00Z', end_time: '10:00:00Z' }, prices: { ...MINI, input_mtok: 0.01 } },
    ];
    expect(judgeMini(hourly)).toEqual([
      'jump: openai gpt-4o-mini: input would go from $0.15 a million to $0.01 a million, by more than 5 times',
    ]);
  });

  it('may not give a known name the prices of another model', () => {
    const text = JSON.stringify([
      {
        id: 'openai',
        models: [
          { id: 'gpt-anything', match: { regex: '^gpt-.*$' }, prices: { input_mtok: 30, output_mtok: 60 } },
          { id: 'gpt-4o-mini', match: { equals: 'gpt-4o-mini' }, prices: MINI },
        ],
      },
      {
        id: 'anthropic',
        models: [{ id: 'claude-sonnet-4-6', match: { equals: 'claude-sonnet-4-6' }, prices: SONNET }],
      },
    ]);
    const parsed = parseCatalog(text, 'prices.json', '2026-11-28');
    expect(parsed.isOk && judgeCatalog(BEFORE, parsed.data, []).refusals.map(({ text: words }) => words)).toEqual([
      'openai gpt-4o-mini: input would go from $0.15 a million to $30 a million, by more than 5 times',
      'openai gpt-4o-mini: output would go from $0.6 a million to $60 a million, by more than 5 times',
    ]);
  });

  it('may not lose more than a tenth of the models of a provider', () => {
    const names = Array.from({ length: 10 }, (_, index) => `gpt-${index}`);
    const models = (some: readonly string[]) => Object.fromEntries(some.map((name) => [name, MINI]));
    const before = catalogOf({ openai: models(names) });
    expect(judgeCatalog(before, catalogOf({ openai: models(names.slice(1)) }), []).refusals).toEqual([]);
    expect(judgeCatalog(before, catalogOf({ openai: models(names.slice(2)) }), []).refusals).toEqual([
      {
        gate: 'lost_models',
        provider: 'openai',
        model: null,
        text: 'openai: 2 of 10 models would have no price any more: gpt-0, gpt-1',
      },
    ]);
  });

  it('loses a model also where its name stays and the price of its input or output goes', () => {
    expect(judgeMini({ input_mtok: 0.15 })).toEqual([
      'lost_models: openai: 1 of 1 models would have no price any more: gpt-4o-mini',
    ]);
  });

  it('keeps a cache read at or below the input, and a write at or above it', () => {
    expect(judgeSonnet({ ...SONNET, cache_read_mtok: 3 })).toEqual([
      'jump: anthropic claude-sonnet-4-6: cache_read would go from $0.3 a million to $3 a million, by more than 5 times',
    ]);
    expect(judgeSonnet({ ...SONNET, input_mtok: 3.5, cache_write_mtok: 3.4, cache_write_1h_mtok: 7 })).toEqual([
      'relation: anthropic claude-sonnet-4-6: cache_creation_5m would cost $3.4 a million, less than input at $3.5 a million',
    ]);
    const before = catalogOf({ openai: { 'gpt-4o-mini': { ...MINI, cache_read_mtok: 0.1 } } });
    const after = catalogOf({ openai: { 'gpt-4o-mini': { ...MINI, cache_read_mtok: 0.16 } } });
    expect(judgeCatalog(before, after, []).refusals.map(({ text }) => text)).toEqual([
      'openai gpt-4o-mini: cache_read would cost $0.16 a million, more than input at $0.15 a million',
    ]);
  });

  it('keeps an hour in the cache at twice the input at Anthropic, and only there', () => {
    expect(judgeSonnet({ ...SONNET, cache_write_1h_mtok: 5 })).toEqual([
      'relation: anthropic claude-sonnet-4-6: cache_creation_1h would cost $5 a million, not 2 times input at $3 a million',
    ]);
    const bedrock = (write: number) => catalogOf({ aws: { nova: { ...MINI, cache_write_1h_mtok: write } } });
    expect(judgeCatalog(bedrock(0.3), bedrock(0.4), []).refusals).toEqual([]);
  });

  it('does not go on about what stands so in the catalog in use', () => {
    const odd = catalogOf({ anthropic: { 'claude-sonnet-4-6': { ...SONNET, cache_write_1h_mtok: 5 } } });
    const next = catalogOf({
      anthropic: { 'claude-sonnet-4-6': { ...SONNET, cache_write_1h_mtok: 5 }, 'claude-9': SONNET },
    });
    expect(judgeCatalog(odd, next, []).refusals).toEqual([]);
  });

  it('has prices for a million tokens, not for one or a thousand', () => {
    const withNew = (prices: Prices) =>
      judgeCatalog(
        BEFORE,
        catalogOf({ openai: { 'gpt-4o-mini': MINI, 'gpt-9': prices }, anthropic: { 'claude-sonnet-4-6': SONNET } }),
        [],
      ).refusals.map(({ gate, text }) => `${gate}: ${text}`);
    expect(withNew({ input_mtok: 0.00000125, output_mtok: 10_000 })).toEqual([
      'implausible: openai gpt-9: input would cost $0.00000125 a million; prices are for a million tokens',
      'implausible: openai gpt-9: output would cost $10000 a million; prices are for a million tokens',
    ]);
  });

  it('leaves the worked calls at their cost', () => {
    const goldenCosts = readGoldenCosts().filter(({ id }) => id === 'openai-01');
    const after = catalogOf({
      openai: { 'gpt-4o-mini': { input_mtok: 0.2, output_mtok: 0.6 } },
      anthropic: { 'claude-sonnet-4-6': SONNET },
    });
    const refusals = [
      {
        gate: 'worked_case',
        provider: 'openai',
        model: 'gpt-4o-mini',
        text: 'openai gpt-4o-mini: the worked call openai-01 would cost $0.00045; it costs $0.00039',
      },
    ];
    expect(judgeCatalog(BEFORE, after, goldenCosts).refusals).toEqual(refusals);
    // Once it was accepted it is what the next one is compared with, and the way back is open.
    expect(judgeCatalog(after, after, goldenCosts).refusals).toEqual([]);
    expect(judgeCatalog(after, BEFORE, goldenCosts).refusals).toEqual([]);
  });
});

describe('the worked calls', () => {
  it('are those with a cost, and the bundled catalog passes', () => {
    const goldenCosts = readGoldenCosts();
    expect(goldenCosts).toHaveLength(64);
    expect(judgeCatalog(BUNDLED_CATALOG, BUNDLED_CATALOG, goldenCosts)).toMatchObject({
      changes: { added: [], lost: [], rates: [] },
      refusals: [],
    });
  });
});
