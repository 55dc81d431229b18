/**
 * The exact cost of a usual call, by rates that the price book was asked for once in a minute: the book takes several
 * microseconds for each call, since it says how the cost came about.
 */
import {
  COUNTED_CLASSES,
  countPrompt,
  type TokenUsage,
  USAGE_CLASSES,
  type UsageClass,
} from '../../vocabulary/token-usage.ts';
import type { PicoUsd } from '../../vocabulary/usd.ts';
import { MAX_MODEL_LENGTH, readBillingModel } from '../billing-terms.ts';
import { MAX_QUANTITY } from '../cost-lines.ts';
import type { PriceBook } from '../price-book.ts';
import { minuteOf } from '../price-row.ts';
import { type BilledBegin, type BilledEnd, changesCost, toBillableCall } from '../to-billable-call.ts';
import { countReached, listPromptEdges } from './prompt-edges.ts';

/** The largest quantity that has a price. */
const PROBE = BigInt(MAX_QUANTITY);
/** A bound, since clients can invent names. */
const MAX_KEPT = 2_000;
const USUAL_FIELDS: readonly string[] = ['classes', 'reasoning', 'native'] satisfies (keyof TokenUsage)[];
const TOKENS: readonly UsageClass[] = USAGE_CLASSES.filter((name) => !COUNTED_CLASSES.includes(name));

interface Rates {
  readonly edges: readonly number[];
  /** Pico-dollars for a token, by how many edges the prompt is beyond; null where a token is no whole number of them. */
  readonly kept: readonly Map<UsageClass, PicoUsd | null>[];
}

export class ExactRates {
  readonly #book: PriceBook;
  readonly #kept = new Map<string, Rates>();

  constructor(book: PriceBook) {
    this.#book = book;
  }

  /** As the price book has it; null where it has to be asked. */
  costOf(begin: BilledBegin, end: BilledEnd): PicoUsd | null {
    const { usage } = end;
    const { provider } = begin;
    const model = readBillingModel({ provider, model: end.model, modelRequested: end.modelRequested });
    if (usage === null || model === null || model.length > MAX_MODEL_LENGTH || !isUsual(begin, end, usage)) return null;
    const rates = this.#find(begin, end, model);
    const promptTokens = countPrompt(usage.classes);
    let cost = 0n;
    for (const usageClass of TOKENS) {
      const quantity = usage.classes[usageClass] ?? 0;
      if (quantity === 0) continue;
      if (!Number.isSafeInteger(quantity) || quantity < 0 || quantity >= MAX_QUANTITY) return null;
      const rate = this.#rateOf(rates, usageClass, begin, end, promptTokens);
      if (rate === null) return null;
      cost += BigInt(quantity) * rate;
    }
    // Of no tokens at all the book thinks otherwise.
    return cost === 0n ? null : cost;
  }

  #find(begin: BilledBegin, end: BilledEnd, model: string): Rates {
    const { provider, providerAlias, requestedAtMs, region, endpoint } = begin;
    const key = `${minuteOf(requestedAtMs)}\n${provider}\n${providerAlias ?? ''}\n${endpoint}\n${region ?? ''}\n${end.modelRequested ?? ''}\n${end.model ?? ''}\n${end.serviceTier ?? ''}\n${end.speed ?? ''}\n${end.inferenceGeo ?? ''}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const edges = listPromptEdges(this.#book, begin, model);
    const made = { edges, kept: Array.from({ length: edges.length + 1 }, () => new Map()) };
    if (!this.#book.isMinuteSteady(requestedAtMs)) return made;
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    this.#kept.set(key, made);
    return made;
  }

  #rateOf(
    { edges, kept }: Rates,
    usageClass: UsageClass,
    begin: BilledBegin,
    end: BilledEnd,
    largestPrompt: number,
  ): PicoUsd | null {
    const ofSize = kept[countReached(edges, largestPrompt)];
    const known = ofSize?.get(usageClass);
    if (known !== undefined) return known;
    const usage = { classes: { [usageClass]: MAX_QUANTITY }, reasoning: null, largestPrompt, native: {} };
    const { costStatus, totalCost } = this.#book.priceCall(toBillableCall(begin, { ...end, usage }));
    // Of so many tokens the cost is rounded once: when it is a multiple, that of any fewer is one too.
    const isWhole = costStatus === 'exact' && totalCost !== null && totalCost % PROBE === 0n;
    const rate = isWhole ? totalCost / PROBE : null;
    ofSize?.set(usageClass, rate);
    return rate;
  }
}

/** Whose cost is the sum of its tokens at the rates for its prompt, and nothing else. */
function isUsual(begin: BilledBegin, end: BilledEnd, usage: TokenUsage): boolean {
  if (!begin.billed || begin.isBatch || end.outcome !== 'ok' || end.usageSource !== 'provider') return false;
  if (end.flags.some(changesCost)) return false;
  for (const field in usage) if (!USUAL_FIELDS.includes(field)) return false;
  return COUNTED_CLASSES.every((usageClass) => usage.classes[usageClass] === undefined);
}
