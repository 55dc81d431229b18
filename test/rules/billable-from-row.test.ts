/**
 * A call that is priced again from its row must cost what it cost when it came in: whatever the first pricing knew of it
 * has to be in the row. All fixtures, and calls made up at random; the worked cases are tested with the database.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { billableFromRow, PRICED_STATUSES } from '../../src/control/prices/declared/billable-from-row.ts';
import { makeRow } from '../../src/control/shipper/make-row.ts';
import { readBilledUsage } from '../../src/formats/usage/billed-usage.ts';
import type { PricedCall } from '../../src/pricing/billable-call.ts';
import { NO_OPERATOR_PRICES } from '../../src/pricing/operator-prices.ts';
import { createPriceBook } from '../../src/pricing/price-book.ts';
import { toBillableCall } from '../../src/pricing/to-billable-call.ts';
import type { CallBegin, CallEnd } from '../../src/vocabulary/call-record.ts';
import {
  type OtherUsage,
  type ReportedUsage,
  type TokenUsage,
  USAGE_CLASSES,
} from '../../src/vocabulary/token-usage.ts';
import { callBegin, callEnd, NOON_MS } from '../support/call-fixtures.ts';
import { type Fixture, listFixtures } from '../support/fixtures.ts';
import { findEndpoint, readFixture } from '../support/read-fixture.ts';

const EVER = { id: 1, providerAlias: null, validFromMs: null, validToMs: null } as const;
/** With an alias, a mapping and a discount from an instant on, so that all that tells calls apart counts. */
const book = createPriceBook({
  operator: {
    ...NO_OPERATOR_PRICES,
    prices: [
      {
        ...EVER,
        provider: 'openai',
        providerAlias: 'eu',
        match: 'prefix',
        model: 'gpt-',
        serviceTier: 'any',
        promptTier: null,
        rates: { input: '7', output: '11' },
      },
    ],
    mappings: [{ ...EVER, provider: 'anthropic', match: 'exact', model: 'house', billingModel: 'claude-opus-5' }],
    multipliers: [{ ...EVER, provider: 'gemini', validFromMs: NOON_MS + 5, factor: '0.85' }],
  },
});

/** As it comes in, and from its row, in which objects are JSON. Null when prices do not decide about it. */
function priceTwice(begin: CallBegin, end: CallEnd): readonly [PricedCall, PricedCall] | null {
  const first = book.priceCall(toBillableCall(begin, end));
  if (!PRICED_STATUSES.some((status) => status === first.costStatus)) return null;
  const row = makeRow(begin, end, first, NOON_MS);
  const stored: Pick<typeof row, 'usage' | 'native_usage'> = JSON.parse(
    JSON.stringify({ usage: row.usage, native_usage: row.native_usage }),
  );
  return [first, book.priceCall(billableFromRow({ ...row, ...stored }))];
}

function describeCall(fixture: Fixture, reported: ReportedUsage, isBatch: boolean): readonly [CallBegin, CallEnd] {
  const endpoint = findEndpoint(fixture);
  const use = readBilledUsage(reported, {
    fetchesResult: endpoint.fetchesResult === true,
    status: fixture.status,
    isComplete: true,
    sentUsage: null,
  });
  const begin = callBegin(6, {
    provider: fixture.provider,
    endpoint: endpoint.family,
    billed: endpoint.billed,
    isBatch: endpoint.isBatch || isBatch,
    region: 'us-east-1',
    providerAlias: 'eu',
  });
  const { model, serviceTier, speed, inferenceGeo, error, flags } = reported;
  const end = callEnd(6, {
    model,
    serviceTier,
    speed,
    inferenceGeo,
    modelRequested: endpoint.model.in === 'path' ? endpoint.model.name : model,
    status: fixture.status,
    outcome: fixture.status >= 400 ? 'upstream_error' : error === null ? 'ok' : 'upstream_stream_error',
    errorType: error?.type ?? null,
    usage: use.usage,
    usageSource: use.usageSource,
    flags: use.isLater ? ['usage_later', ...flags] : flags,
    ...(use.billedOnceAs === null ? {} : { billedOnceAs: use.billedOnceAs }),
  });
  return [begin, end];
}

describe('a call that is priced again from its row', () => {
  const fixtures = listFixtures();

  it('costs what it cost, for every fixture, as a batch too', async () => {
    let priced = 0;
    for (const fixture of fixtures) {
      const reported = await readFixture(fixture, [fixture.body]);
      for (const isBatch of [false, true]) {
        const twice = priceTwice(...describeCall(fixture, reported, isBatch));
        if (twice === null) continue;
        priced += 1;
        expect(twice[1], `${fixture.provider}/${fixture.name}`).toEqual(twice[0]);
      }
    }
    expect(priced).toBeGreaterThan(fixtures.length);
  });

  const quantity = fc.oneof(fc.nat({ max: 400_000 }), fc.constantFrom(0, -1, 0.5, 4_294_967_296, 1e15));
  const classes = fc.dictionary(fc.constantFrom(...USAGE_CLASSES), quantity, { maxKeys: 6 });
  const tier = fc.constantFrom(null, 'default', 'flex', 'priority', 'batch', 'scale');
  const speed = fc.constantFrom(null, 'fast');
  const geo = fc.constantFrom(null, 'us', 'global');
  const largest = fc.option(fc.nat({ max: 400_000 }), { nil: undefined });
  const other = fc
    .record({
      purpose: fc.constantFrom('advisor', 'image_generation'),
      model: fc.constantFrom(null, 'gpt-image-2', 'claude-opus-5', 'house', 'nobody-knows'),
      classes,
      terms: fc.option(fc.record({ serviceTier: tier, speed, inferenceGeo: geo }), { nil: undefined }),
      largestPrompt: largest,
    })
    .map(({ terms, largestPrompt, ...rest }): OtherUsage => {
      const size = largestPrompt === undefined ? {} : { largestPrompt };
      return { ...rest, ...(terms === undefined ? {} : { terms }), ...size };
    });
  const usages = fc
    .record({
      classes,
      others: fc.array(other, { maxLength: 2 }),
      largestPrompt: largest,
      marks: fc.subarray(['isIncomplete', 'isRefused', 'hasUnknownPrompts'] as const),
      pictures: fc.option(
        fc.record({ size: fc.constantFrom(null, '1024x1024', 'odd'), quality: fc.constantFrom(null, 'hd') }),
        { nil: undefined },
      ),
    })
    .map(({ classes: own, others, largestPrompt, marks, pictures }): TokenUsage => {
      const isMarked = Object.fromEntries(marks.map((mark) => [mark, true as const]));
      return {
        classes: own,
        others,
        reasoning: null,
        native: {},
        ...(largestPrompt === undefined ? {} : { largestPrompt }),
        ...(pictures === undefined ? {} : { pictures }),
        ...isMarked,
      };
    });
  const named = fc.constantFrom<readonly [CallBegin['provider'], string]>(
    ['openai', 'gpt-5.4'],
    ['openai', 'dall-e-3'],
    ['anthropic', 'claude-haiku-5-5'],
    ['anthropic', 'house'],
    ['gemini', 'gemini-2.5-pro'],
    ['bedrock', 'us.anthropic.claude-haiku-4-5-20251001-v1:0'],
    ['deepseek', 'deepseek-flash'],
    ['together', 'nobody-knows'],
  );

  it('costs what it cost, whatever it used and on whatever terms', () => {
    fc.assert(
      fc.property(
        fc.record({ named, usage: fc.option(usages), tier, speed, geo, isBatch: fc.boolean() }),
        fc.constantFrom<CallEnd['usageSource']>('provider', 'partial', 'request'),
        fc.constantFrom<CallEnd['outcome']>('ok', 'client_closed', 'upstream_error', 'interrupted'),
        fc.constantFrom('chat.completions', 'unknown'),
        fc.constantFrom(null, 'eu'),
        fc.constantFrom(NOON_MS + 4, NOON_MS + 5),
        (
          { named: [provider, model], usage, ...terms },
          usageSource,
          outcome,
          endpoint,
          providerAlias,
          requestedAtMs,
        ) => {
          const begin = callBegin(1, { provider, endpoint, providerAlias, requestedAtMs, isBatch: terms.isBatch });
          const end = callEnd(1, {
            model: provider === 'bedrock' ? null : model,
            modelRequested: model,
            outcome,
            serviceTier: terms.tier,
            speed: terms.speed,
            inferenceGeo: terms.geo,
            usage,
            usageSource: usage === null ? 'none' : usageSource,
          });
          const twice = priceTwice(begin, end);
          if (twice !== null) expect(twice[1]).toEqual(twice[0]);
        },
      ),
    );
  });
});
