/**
 * The price book: from a call's usage to its exact cost, line by line. Pure and total: it reads no clock and no file,
 * never throws on a call, and says "not known" where it has no declared price.
 */
import { createHash } from 'node:crypto';
import type { Outcome } from '../call-record.ts';
import { USAGE_CLASSES, type UsageClass } from '../token-usage.ts';
import { formatUsd, type PicoUsd } from '../usd.ts';
import type { BillableCall, CostLine, CostStatus, PricedCall } from './billable-call.ts';
import { MAX_MODEL_LENGTH, readBillingModel, readBillingTerms } from './billing-terms.ts';
import { createCatalog } from './catalog.ts';
import { type ClassRate, type PricingSituation, readClassRate } from './class-rate.ts';
import { formatDecimal, priceQuantity } from './decimal.ts';
import { createModelPrices } from './model-prices.ts';
import { OVERLAY_RATE_CARDS } from './overlay-rate-cards.ts';
import { REQUEST_CLASSES } from './overlay-row.ts';
import { ALIAS_RULES, DERIVED_RULES, MULTIPLIER_RULES } from './overlay-rules.ts';
import { isValidAt } from './price-row.ts';

export interface PriceBook {
  /** Changes when any price, rule or catalogue entry does; stored with every priced call. */
  readonly version: string;
  readonly priceCall: (call: BillableCall) => PricedCall;
}

/** No answer reports more; a larger figure is nonsense that would not fit the money columns. */
const MAX_QUANTITY = 1_000_000_000_000;

/** Change it when the arithmetic or the rules of selection change. */
const ENGINE_VERSION = 1;

type CostGroup = 'input' | 'cacheRead' | 'cacheCreation' | 'output' | 'other';

function groupOf(unit: UsageClass): CostGroup {
  if (REQUEST_CLASSES.includes(unit)) return 'other';
  if (unit.startsWith('cache_read')) return 'cacheRead';
  if (unit.startsWith('cache_creation')) return 'cacheCreation';
  return unit.startsWith('input') ? 'input' : 'output';
}

const CLASS_GROUPS = new Map(USAGE_CLASSES.map((unit) => [unit, groupOf(unit)]));

/** Endings after which the provider has charged nothing, if it reported nothing. */
const FREE_OUTCOMES: readonly Outcome[] = ['upstream_error', 'rejected'];
/** Failures of this gateway's connection before a byte of the request was sent. */
const FREE_ERRORS: readonly string[] = ['upstream_name', 'upstream_tls', 'upstream_connect_timeout'];

function isFree(call: BillableCall): boolean {
  if (!call.billed) return true;
  if (FREE_OUTCOMES.includes(call.outcome)) return true;
  return call.outcome === 'upstream_unreachable' && FREE_ERRORS.includes(call.errorType ?? '');
}

interface Quantity {
  readonly unit: UsageClass;
  readonly quantity: number;
}

/** The reported classes in their order. A quantity that is no count (negative, fractional, absurd) stays, unpriced. */
function listQuantities(call: BillableCall): readonly Quantity[] {
  const classes = call.usage?.classes ?? {};
  return USAGE_CLASSES.flatMap((unit) => {
    const quantity = classes[unit];
    return quantity === undefined ? [] : [{ unit, quantity }];
  });
}

function isCount(quantity: number): boolean {
  return Number.isSafeInteger(quantity) && quantity >= 0 && quantity <= MAX_QUANTITY;
}

function countPromptTokens(quantities: readonly Quantity[]): number {
  let tokens = 0;
  for (const { unit, quantity } of quantities) {
    const group = CLASS_GROUPS.get(unit);
    if (isCount(quantity) && (group === 'input' || group === 'cacheRead' || group === 'cacheCreation'))
      tokens += quantity;
  }
  return tokens;
}

function createLine({ unit, quantity }: Quantity, rate: ClassRate, amount: PicoUsd): CostLine {
  return {
    class: unit,
    quantity,
    unit: REQUEST_CLASSES.includes(unit) ? 'request' : 'token',
    rate: formatDecimal(rate.row.rate),
    per: rate.row.per,
    multiplier: formatDecimal(rate.multiplier),
    amount: formatUsd(amount),
    layer: rate.layer,
    row: rate.key,
    ratedAs: rate.ratedAs,
  };
}

export function createPriceBook(): PriceBook {
  const catalog = createCatalog();
  const readModelPrices = createModelPrices(catalog);
  const overlay = JSON.stringify([OVERLAY_RATE_CARDS, MULTIPLIER_RULES, DERIVED_RULES, ALIAS_RULES]);
  const version = createHash('sha256')
    .update(`${ENGINE_VERSION}\n${catalog.data()}\n${overlay}`)
    .digest('hex')
    .slice(0, 16);

  function readSituation(call: BillableCall, model: string, quantities: readonly Quantity[]): PricingSituation {
    const atMs = call.requestedAtMs;
    const named = readModelPrices(call.provider, model);
    const alias = named.aliases.find((rule) => isValidAt(rule, atMs));
    return {
      prices: alias === undefined ? named : readModelPrices(call.provider, alias.model),
      terms: readBillingTerms(call),
      atMs,
      promptTokens: countPromptTokens(quantities),
    };
  }

  function createUncounted(billingModel: string | null, costStatus: CostStatus): PricedCall {
    return {
      billingModel,
      costStatus,
      totalCost: costStatus === 'not_billed' ? 0n : null,
      knownCost: 0n,
      inputCost: null,
      cacheReadCost: null,
      cacheCreationCost: null,
      outputCost: null,
      otherCost: null,
      lines: [],
      priceVersion: version,
    };
  }

  function priceCall(call: BillableCall): PricedCall {
    const billingModel = readBillingModel(call);
    if (!call.billed) return createUncounted(billingModel, 'not_billed');
    const quantities = listQuantities(call);
    if (quantities.length === 0) return createUncounted(billingModel, isFree(call) ? 'not_billed' : 'no_usage');
    if (billingModel === null || billingModel.length > MAX_MODEL_LENGTH)
      return createUncounted(billingModel, 'unpriced');
    const situation = readSituation(call, billingModel, quantities);
    if (situation.prices.rows.length === 0) return createUncounted(billingModel, 'unpriced');

    const lines: CostLine[] = [];
    const groups: Record<CostGroup, PicoUsd | null | undefined> = {
      input: undefined,
      cacheRead: undefined,
      cacheCreation: undefined,
      output: undefined,
      other: undefined,
    };
    let knownCost = 0n;
    let isWhole = call.usageSource === 'provider';
    for (const entry of quantities) {
      const group = CLASS_GROUPS.get(entry.unit) ?? 'other';
      const rate = entry.quantity > 0 && isCount(entry.quantity) ? readClassRate(situation, entry.unit) : null;
      if (rate === null && entry.quantity !== 0) {
        groups[group] = null;
        isWhole = false;
        continue;
      }
      const amount = rate === null ? 0n : priceQuantity(entry.quantity, rate.row.rate, rate.multiplier, rate.row.per);
      if (rate !== null) lines.push(createLine(entry, rate, amount));
      knownCost += amount;
      const before = groups[group];
      if (before !== null) groups[group] = (before ?? 0n) + amount;
    }
    const isUnpriced = !isWhole && lines.length === 0 && quantities.some(({ quantity }) => quantity !== 0);
    return {
      billingModel,
      costStatus: isWhole ? 'exact' : isUnpriced ? 'unpriced' : 'partial',
      totalCost: isWhole ? knownCost : null,
      knownCost,
      inputCost: groups.input ?? null,
      cacheReadCost: groups.cacheRead ?? null,
      cacheCreationCost: groups.cacheCreation ?? null,
      outputCost: groups.output ?? null,
      otherCost: groups.other ?? null,
      lines,
      priceVersion: version,
    };
  }

  return { version, priceCall };
}
