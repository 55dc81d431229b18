/** The dearest rates that a model's call may be billed at, from the price book itself. */
import type { ProviderName } from '../../vocabulary/call-record.ts';
import type { UsageClass } from '../../vocabulary/token-usage.ts';
import type { PicoUsd } from '../../vocabulary/usd.ts';
import type { BillableCall } from '../billable-call.ts';
import type { PriceBook } from '../price-book.ts';
import { countReached, listPromptEdges } from './prompt-edges.ts';

/** As a request names them; null where it leaves them to the API. */
export interface AskedTerms {
  readonly serviceTier: string | null;
  readonly speed: string | null;
  readonly inferenceGeo: string | null;
}

export interface RatedModel {
  readonly provider: ProviderName;
  readonly providerAlias: string | null;
  readonly endpoint: string;
  readonly region: string | null;
  readonly requestedAtMs: number;
  readonly model: string;
}

/** Pico-dollars for a million units of the class; null where the class has no price. */
export type RateOf = (usageClass: UsageClass, promptTokens: number) => PicoUsd | null;

const UNITS = 1_000_000;
/** A bound, since clients can invent terms. */
const MAX_TERMS = 50;
/** These words let the provider choose, and it may choose the dearest. */
const ANY_TIER = ['auto'];
const PRIORITY = 'priority';

/** What is found is kept, so that it holds as long as the caller keeps the function: for a steady minute at most. */
export function createDearestRates(book: PriceBook, call: RatedModel): (asked: AskedTerms) => RateOf {
  const edges = listPromptEdges(book, call, call.model);
  const kept = new Map<string, RateOf>();
  return (asked) => {
    const { serviceTier, speed, inferenceGeo } = asked;
    const key = `${serviceTier ?? ''}\n${speed ?? ''}\n${inferenceGeo ?? ''}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    if (kept.size >= MAX_TERMS) kept.clear();
    const made = createRateOf(book, call, { serviceTier, speed, inferenceGeo }, edges);
    kept.set(key, made);
    return made;
  };
}

function createRateOf(book: PriceBook, call: RatedModel, asked: AskedTerms, edges: readonly number[]): RateOf {
  const mayBeAny = ANY_TIER.includes(asked.serviceTier?.toLowerCase() ?? '');
  /** By how many edges the prompt may be beyond. */
  const kept = Array.from({ length: edges.length + 1 }, () => new Map<UsageClass, PicoUsd | null>());

  function findDearest(usageClass: UsageClass, reached: number): PicoUsd | null {
    // The prompt may be shorter than its bound, and a short prompt is not always cheaper.
    const sizes = [1, ...edges.slice(0, reached).map((edge) => edge + 1)];
    const rates = sizes.map((size) => priceUnits(book, call, asked, usageClass, size));
    const others = mayBeAny
      ? sizes.map((size) => priceUnits(book, call, { ...asked, serviceTier: PRIORITY }, usageClass, size))
      : [];
    // The terms that were asked for must have a price. Without one at some size the cost may stay unknown.
    if (rates.includes(null)) return null;
    return [...rates, ...others].reduce((most, rate) => (rate !== null && rate > (most ?? -1n) ? rate : most), null);
  }

  return (usageClass, promptTokens) => {
    const reached = countReached(edges, promptTokens);
    const known = kept[reached]?.get(usageClass);
    if (known !== undefined) return known;
    const found = findDearest(usageClass, reached);
    kept[reached]?.set(usageClass, found);
    return found;
  };
}

function priceUnits(
  book: PriceBook,
  call: RatedModel,
  terms: AskedTerms,
  usageClass: UsageClass,
  largestPrompt: number,
): PicoUsd | null {
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
  return book.priceCall(billable).totalCost;
}

/** Rounded up, and by one more for the rounding of the rate itself. */
export function priceAtMost(units: number, rate: PicoUsd): PicoUsd {
  if (units === 0 || rate === 0n) return 0n;
  return (BigInt(units) * rate) / BigInt(UNITS) + 2n;
}
