/** What holds for the rows of every model that a file of price data or the catalog names, at every place and tier. */
import { describe, expect, it } from 'vitest';
import { USAGE_CLASSES, type UsageClass } from '../vocabulary/token-usage.ts';
import { createCatalog } from './catalog.ts';
import { type ClassRate, readClassRate } from './class-rate.ts';
import { formatDecimal, multiplyDecimals } from './decimal.ts';
import { createModelPrices, type ModelPrices } from './model-prices.ts';
import { compileOperatorPrices, NO_OPERATOR_PRICES } from './operator-prices.ts';
import { OVERLAY_DATA } from './overlay-data.ts';
import { readPlace } from './place.ts';
import type { PriceData } from './price-data.ts';
import { isValidAt, ROW_TIERS } from './price-row.ts';

const AT_MS = Date.UTC(2026, 10, 30, 12);
const TIERS = ROW_TIERS.filter((tier) => tier !== 'any');
const REGIONS = ['us-east-1', 'eu-west-1', 'us-gov-west-1', 'us-gov-east-1'];
const catalog = createCatalog();
const readPrices = createModelPrices(catalog, compileOperatorPrices(NO_OPERATOR_PRICES));

interface Known {
  readonly model: string;
  readonly prices: ModelPrices;
}

function listKnown({ provider, prices }: PriceData): readonly Known[] {
  const named = prices.flatMap(({ models = [] }) => models);
  const ids = catalog.listModels(provider).map(({ id }) => id.replace(/^regional\./, ''));
  return [...new Set([...named, ...ids])].map((model) => ({
    model,
    prices: readPrices({ provider, providerAlias: null, atMs: AT_MS }, model),
  }));
}

function listRegions({ provider, prices }: PriceData): readonly (string | null)[] {
  const named = prices
    .flatMap(({ places = [] }) => places)
    .filter((place) => !['standard', 'commercial'].includes(place));
  return [...new Set([null, ...named, ...(provider === 'bedrock' ? REGIONS : [])])];
}

interface Read {
  readonly usageClass: UsageClass;
  readonly promptTokens: number;
  readonly region: string | null;
  readonly serviceTier: string;
}

function readRate({ provider }: PriceData, { model, prices }: Known, read: Read): ClassRate | null {
  const { region, serviceTier, promptTokens } = read;
  const place = readPlace({ provider, region }, model);
  return readClassRate(
    {
      prices,
      terms: { serviceTier, speed: 'standard', inferenceGeo: 'standard', place },
      atMs: AT_MS,
      promptTokens,
      isSumOfPrompts: false,
      hasUnknownWrites: false,
      pictures: undefined,
      discount: null,
    },
    read.usageClass,
  );
}

function show(rate: ClassRate | null): string | null {
  return rate === null ? null : formatDecimal(multiplyDecimals(rate.row.rate, rate.multiplier));
}

describe.each(OVERLAY_DATA)('the rows of $provider', (data) => {
  const known = listKnown(data);
  const terms = listRegions(data).flatMap((region) => TIERS.map((serviceTier) => ({ region, serviceTier })));

  it('never have one without bounds on the prompt over a price for long prompts', () => {
    const hidden = known.flatMap((one) =>
      USAGE_CLASSES.filter((usageClass) =>
        one.prices.rows.some(
          (row) => row.usageClass === usageClass && (row.promptTier?.overTokens ?? 0) > 0 && isValidAt(row, AT_MS),
        ),
      ).flatMap((usageClass) =>
        terms.flatMap((term) => {
          const rate = readRate(data, one, { ...term, usageClass, promptTokens: 5_000_000 });
          return rate !== null && rate.row.promptTier === null ? [`${one.model}: ${rate.key}`] : [];
        }),
      ),
    );
    expect([...new Set(hidden)]).toEqual([]);
  });
});

describe('Fireworks', () => {
  it('has at its address for the United States only models that are named for it', () => {
    const { prices = [] } = OVERLAY_DATA.find(({ provider }) => provider === 'fireworks') ?? {};
    const there = prices.filter(({ places = [] }) => places.includes('us')).flatMap(({ models = [] }) => models);
    expect(there).toContain('accounts/fireworks/models/glm-5p3-us');
    expect(there.filter((model) => !model.endsWith('-us'))).toEqual([]);
  });
});

describe('a web search', () => {
  it.each([
    ['anthropic', /^claude-(?:fable|mythos|(?:opus|sonnet|haiku)-[4-9])/],
    ['openai', /^gpt-(?:[5-9]|rosalind)(?!.*image)/],
  ] as const)('has a price on every newer model of %s, since its list says so of all', (provider, newer) => {
    const data = OVERLAY_DATA.find((file) => file.provider === provider);
    if (data === undefined) throw new Error('no prices');
    const known = listKnown(data).filter(({ model }) => newer.test(model));
    expect(known.length).toBeGreaterThan(15);
    const dollars = known.map((one) => [
      one.model,
      show(
        readRate(data, one, {
          usageClass: 'web_search_requests',
          promptTokens: 1,
          region: null,
          serviceTier: 'standard',
        }),
      ),
    ]);
    expect(dollars.filter(([, rate]) => rate !== '10')).toEqual([]);
  });
});

describe('Bedrock', () => {
  const data = OVERLAY_DATA.find(({ provider }) => provider === 'bedrock');
  if (data === undefined) throw new Error('no prices of Bedrock');

  it('has one price for writes to the cache, whichever lifetime the format of an endpoint says', () => {
    const known = listKnown(data).filter(
      ({ model, prices }) =>
        !model.includes('claude-') && prices.rows.some(({ usageClass }) => usageClass === 'cache_creation_5m'),
    );
    expect(known.map(({ model }) => model)).toContain('global.openai.gpt-6.2-sol');
    expect(known.map(({ model }) => model)).toContain('moonshotai.kimi-k3');
    const different = known.flatMap((one) =>
      listRegions(data).flatMap((region) =>
        TIERS.flatMap((serviceTier) =>
          [1000, 5_000_000].flatMap((promptTokens) => {
            const [short, half] = (['cache_creation_5m', 'cache_creation_30m'] as const).map((usageClass) =>
              show(readRate(data, one, { region, serviceTier, promptTokens, usageClass })),
            );
            return short === half ? [] : [`${one.model} ${region} ${serviceTier}: ${short} and ${half}`];
          }),
        ),
      ),
    );
    expect(different).toEqual([]);
  });
});
