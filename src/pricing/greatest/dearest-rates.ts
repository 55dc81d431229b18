/** The dearest rates that a model's call may be billed at, from the price book itself, kept for a minute. */
import type { ProviderName } from '../../vocabulary/call-record.ts';
import type { UsageClass } from '../../vocabulary/token-usage.ts';
import type { PicoUsd } from '../../vocabulary/usd.ts';
import type { BillableCall } from '../billable-call.ts';
import type { PriceBook } from '../price-book.ts';

/** As a request names them; null where it leaves them to the API. */
export interface AskedTerms {
  readonly serviceTier: string | null;
  readonly speed: string | null;
  readonly inferenceGeo: string | null;
}

export interface RatedCall {
  readonly provider: ProviderName;
  readonly providerAlias: string | null;
  readonly endpoint: string;
  readonly region: string | null;
  readonly requestedAtMs: number;
  readonly model: string;
  readonly asked: AskedTerms;
}

/** Pico-dollars for a million units of the class; null where the class has no price. */
export type RateOf = (usageClass: UsageClass, promptTokens: number) => PicoUsd | null;

const UNITS = 1_000_000;
const MINUTE_MS = 60_000;
/** A bound, since clients can invent names. */
const MAX_KEPT = 2_000;
/** These words let the provider choose, and it may choose the dearest. */
const ANY_TIER = ['auto'];
const PRIORITY = 'priority';

export class DearestRates {
  readonly #book: PriceBook;
  readonly #kept = new Map<string, RateOf>();

  constructor(book: PriceBook) {
    this.#book = book;
  }

  /** Prices change on the minute at most, so that what is found holds for the rest of it. */
  find(call: RatedCall): RateOf {
    const { provider, providerAlias, endpoint, region, model, asked, requestedAtMs } = call;
    const minute = requestedAtMs - (requestedAtMs % MINUTE_MS);
    const key = `${minute}\n${provider}\n${providerAlias ?? ''}\n${endpoint}\n${region ?? ''}\n${asked.serviceTier ?? ''}\n${asked.speed ?? ''}\n${asked.inferenceGeo ?? ''}\n${model}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const made = this.#create(call);
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    this.#kept.set(key, made);
    return made;
  }

  #create(call: RatedCall): RateOf {
    const { asked } = call;
    const edges = this.#listEdges(call);
    const mayBeAny = ANY_TIER.includes(asked.serviceTier?.toLowerCase() ?? '');
    const kept = new Map<string, PicoUsd | null>();
    return (usageClass, promptTokens) => {
      const reached = edges.filter((edge) => promptTokens > edge);
      const key = `${usageClass}\n${reached.length}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      // The prompt may be shorter than its bound, and a short prompt is not always cheaper.
      const sizes = [1, ...reached.map((edge) => edge + 1)];
      const rates = sizes.map((size) => this.#price(call, asked, usageClass, size));
      const others = mayBeAny
        ? sizes.map((size) => this.#price(call, { ...asked, serviceTier: PRIORITY }, usageClass, size))
        : [];
      // The terms that were asked for must have a price. Without one at some size the cost may stay unknown.
      const isPriced = rates.every((rate) => rate !== null);
      const largest = [...rates, ...others].reduce(
        (most, rate) => (rate !== null && rate > (most ?? -1n) ? rate : most),
        null,
      );
      const found = isPriced ? largest : null;
      kept.set(key, found);
      return found;
    };
  }

  /** Where a longer prompt costs another rate. */
  #listEdges({ provider, providerAlias, requestedAtMs, model }: RatedCall): readonly number[] {
    const { prices } = this.#book.findPrices({ provider, providerAlias, atMs: requestedAtMs }, model);
    const edges = prices.rows.flatMap(({ promptTier }) =>
      promptTier === null ? [] : [promptTier.overTokens, promptTier.upToTokens],
    );
    return [...new Set(edges)].filter((edge) => edge > 0 && edge < Number.MAX_SAFE_INTEGER).sort((a, b) => a - b);
  }

  #price(call: RatedCall, terms: AskedTerms, usageClass: UsageClass, largestPrompt: number): PicoUsd | null {
    const billable: BillableCall = {
      provider: call.provider,
      providerAlias: call.providerAlias,
      endpoint: call.endpoint,
      billed: true,
      isBilledElsewhere: false,
      requestedAtMs: call.requestedAtMs,
      model: null,
      modelRequested: call.model,
      ...terms,
      region: call.region,
      isBatch: false,
      outcome: 'ok',
      status: 200,
      errorType: null,
      usage: { classes: { [usageClass]: UNITS }, reasoning: null, largestPrompt, native: {} },
      usageSource: 'provider',
    };
    return this.#book.priceCall(billable).totalCost;
  }
}

/** Rounded up, and by one more for the rounding of the rate itself. */
export function priceAtMost(units: number, rate: PicoUsd): PicoUsd {
  if (units === 0 || rate === 0n) return 0n;
  return (BigInt(units) * rate) / BigInt(UNITS) + 2n;
}
