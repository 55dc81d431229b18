/** Quotes a call by writing its answer and reading and pricing it as a real one. Nothing is stored. */
import type { CostLine, PricedCall } from '../../../pricing/billable-call.ts';
import type { PriceBook } from '../../../pricing/price-book.ts';
import { type BilledBegin, type BilledEnd, toBillableCall } from '../../../pricing/to-billable-call.ts';
import type { TokenUsage } from '../../../vocabulary/token-usage.ts';
import { listUnpriced, type UnpricedClass } from './explain-unpriced.ts';
import type { ClassQuoteInput, NativeQuoteInput, QuoteInput } from './quote-input.ts';
import { type NativeReading, readNative } from './read-native.ts';

export interface Quote
  extends Pick<PricedCall, 'billingModel' | 'costStatus' | 'totalCost' | 'knownCost' | 'priceVersion'> {
  readonly lines: readonly CostLine[];
  /** What a record would have. */
  readonly usage: TokenUsage | null;
  readonly unpriced: readonly UnpricedClass[];
  readonly unread: readonly string[];
  readonly notes: readonly string[];
}

interface DescribedCall {
  readonly begin: BilledBegin;
  readonly end: BilledEnd;
  readonly unread: readonly string[];
  readonly notes: readonly string[];
}

const WENT_WELL = { outcome: 'ok', status: 200, errorType: null } as const;

/** Throws a QuoteError when the question cannot be answered. */
export function quoteCall(input: QuoteInput, book: PriceBook, nowMs: number): Quote {
  const { begin, end, unread, notes } = input.kind === 'native' ? describeNative(input) : describeClasses(input);
  const call = toBillableCall(begin, end);
  const { billingModel, costStatus, totalCost, knownCost, lines, priceVersion } = book.priceCall(call);
  return {
    billingModel,
    costStatus,
    totalCost,
    knownCost,
    lines,
    priceVersion,
    usage: end.usage,
    unpriced: listUnpriced(book.priceCall, call, nowMs),
    unread,
    notes,
  };
}

function describeNative(input: NativeQuoteInput): DescribedCall {
  const read = readNative(input);
  const { quoted, reported, use, unread } = read;
  const { endpoint, region, modelRequested } = quoted;
  const { model, serviceTier, speed, inferenceGeo } = reported;
  return {
    begin: {
      provider: input.provider,
      providerAlias: input.providerAlias,
      endpoint: endpoint.family,
      billed: endpoint.billed,
      requestedAtMs: input.requestedAtMs,
      region: input.context.region ?? region,
      isBatch: endpoint.isBatch || input.context.batch === true,
    },
    end: {
      ...WENT_WELL,
      model,
      modelRequested,
      serviceTier,
      speed,
      inferenceGeo,
      usage: use.usage,
      usageSource: use.usageSource,
      flags: use.isLater ? ['usage_later', ...reported.flags] : reported.flags,
      ...(use.billedOnceAs === null ? {} : { billedOnceAs: use.billedOnceAs }),
    },
    unread,
    notes: describeNotes(read),
  };
}

function describeClasses(input: ClassQuoteInput): DescribedCall {
  const { provider, providerAlias, model, requestedAtMs, context, classes, serviceTier, speed, inferenceGeo } = input;
  return {
    begin: {
      provider,
      providerAlias,
      endpoint: 'classes',
      billed: true,
      requestedAtMs,
      region: context.region ?? null,
      isBatch: context.batch === true,
    },
    end: {
      ...WENT_WELL,
      model,
      modelRequested: model,
      serviceTier,
      speed,
      inferenceGeo,
      usage: { classes, reasoning: null, native: {} },
      usageSource: 'provider',
      flags: [],
    },
    unread: [],
    notes: [],
  };
}

function describeNotes({ quoted, reported, use, unread }: NativeReading): readonly string[] {
  const { endpoint } = quoted;
  const notes: string[] = [];
  if (!endpoint.billed && endpoint.fetchesResult !== true) notes.push(`${endpoint.family} costs nothing by itself.`);
  if (use.isLater) notes.push('What was asked for is made later; the call that fetches it carries the cost.');
  if (reported.usage !== null && use.usage === null)
    notes.push('This usage belongs to the call that asked for the result, and is not counted again.');
  if (reported.flags.includes('inconsistent')) notes.push('The parts of the usage do not add up.');
  if (use.usage?.isIncomplete === true) notes.push('A part of what is billed is not in the usage, and not known.');
  if (use.usage?.isRefused === true) notes.push('The request was refused before anything was answered.');
  if (unread.length > 0) notes.push(`Of the usage this is not read and had no influence: ${unread.join(', ')}.`);
  return notes;
}
