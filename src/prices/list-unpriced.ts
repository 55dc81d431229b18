/** Models without a price, each with the reason and the command that would end it. Works on counts, not on calls. */
import type pg from 'pg';
import type { ProviderName } from '../call-record.ts';
import type { BillableCall } from '../pricing/billable-call.ts';
import { readBillingTerms } from '../pricing/billing-terms.ts';
import { findNotedModel } from '../pricing/noted-models.ts';
import { STANDARD_PLACE } from '../pricing/place.ts';
import type { PriceBook } from '../pricing/price-book.ts';
import { addClasses, type ClassQuantities, TOOL_CLASSES, USAGE_CLASSES, type UsageClass } from '../token-usage.ts';
import { formatUsd, parseUsd } from '../usd.ts';
import { countUnpriced, type UnpricedGroup } from './count-unpriced.ts';
import { isOpaqueId } from './opaque-id.ts';
import { suggestPrice } from './suggest-price.ts';
import type { UnpricedReason } from './unpriced-reason.ts';

export interface UnpricedModel {
  readonly provider: ProviderName;
  readonly model: string | null;
  readonly endpoint: string;
  readonly reason: UnpricedReason;
  /** The terms that have no price, in words; null unless they are the reason. */
  readonly terms: string | null;
  readonly calls: number;
  readonly missing: readonly UsageClass[];
  readonly quantities: ClassQuantities;
  readonly knownCost: string;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  readonly exampleId: string;
  /** A command, or a sentence where no command helps. */
  readonly suggestion: string;
  /** Why the price book has none of a model that it knows; null where it says nothing. */
  readonly note: string | null;
}

/** The group as one call that used one of each missing class. */
function toCall(group: UnpricedGroup): BillableCall {
  return {
    provider: group.provider,
    providerAlias: group.providerAlias,
    endpoint: group.endpoint,
    billed: true,
    isLater: false,
    requestedAtMs: group.lastSeen.getTime(),
    model: group.model,
    modelRequested: group.model,
    serviceTier: group.serviceTier,
    speed: group.speed,
    inferenceGeo: group.inferenceGeo,
    region: group.region,
    isBatch: group.isBatch,
    outcome: 'ok',
    status: 200,
    errorType: null,
    usage: {
      classes: Object.fromEntries(group.missing.map((name) => [name, 1])),
      reasoning: null,
      native: {},
    },
    usageSource: 'provider',
  };
}

const STANDARD = { serviceTier: null, speed: null, inferenceGeo: null, isBatch: false } as const;

function findReason(group: UnpricedGroup, book: PriceBook): UnpricedReason {
  if (group.missing.length === 0) return group.isResultUnread ? 'result_unread' : 'unknown_endpoint';
  if (group.model === null) return 'no_model';
  const call = toCall(group);
  if (book.priceCall(call).costStatus === 'exact') return 'priced_by_now';
  const { provider, providerAlias, requestedAtMs: atMs } = call;
  const { prices } = book.findPrices({ provider, providerAlias, atMs }, group.model);
  const isKnown = prices.rows.some(({ unit }) => !TOOL_CLASSES.includes(unit) || group.missing.includes(unit));
  if (!isKnown) return isOpaqueId(provider, group.model) ? 'opaque_id' : 'unknown_model';
  if (book.priceCall({ ...call, ...STANDARD }).costStatus === 'exact') return 'terms';
  const isElsewhere = !readBillingTerms(call, group.model).place.names.includes(STANDARD_PLACE);
  const isPricedSomewhere = group.missing.every((name) => prices.rows.some(({ unit }) => unit === name));
  return isElsewhere && isPricedSomewhere ? 'terms' : 'no_rate_for_class';
}

/** The terms that are not the standard ones. */
function describeTerms(group: UnpricedGroup): string {
  const { serviceTier, speed, inferenceGeo, place } = readBillingTerms(toCall(group), group.model);
  const words = [
    ...(serviceTier === 'standard' ? [] : [`service tier ${serviceTier}`]),
    ...(speed === 'standard' ? [] : [`speed ${speed}`]),
    ...(inferenceGeo === 'standard' ? [] : [`inference geo ${inferenceGeo}`]),
    ...(place.names.includes(STANDARD_PLACE) ? [] : [`served at ${place.name}`]),
  ];
  return words.join(', ');
}

/** A model that lacks a price for one reason, however the calls differ otherwise. */
interface Gap {
  readonly group: UnpricedGroup;
  readonly reason: UnpricedReason;
  readonly terms: string | null;
}

function addGroups(a: UnpricedGroup, b: UnpricedGroup): UnpricedGroup {
  const latest = b.lastSeen > a.lastSeen ? b : a;
  return {
    ...latest,
    calls: a.calls + b.calls,
    missing: USAGE_CLASSES.filter((name) => a.missing.includes(name) || b.missing.includes(name)),
    quantities: addClasses(a.quantities, b.quantities),
    knownCost: formatUsd(parseUsd(a.knownCost) + parseUsd(b.knownCost)),
    firstSeen: new Date(Math.min(a.firstSeen.getTime(), b.firstSeen.getTime())),
  };
}

function toUnpricedModel({ group, reason, terms }: Gap): UnpricedModel {
  const { provider, model, endpoint, calls, missing, quantities, firstSeen, lastSeen, exampleId } = group;
  return {
    ...{ provider, model, endpoint, reason, terms, calls, missing, quantities, firstSeen, lastSeen, exampleId },
    knownCost: formatUsd(parseUsd(group.knownCost)),
    suggestion: suggestPrice(group, reason),
    note: model === null ? null : (findNotedModel(provider, model)?.withoutPrice ?? null),
  };
}

/** Of the calls from `from` to before `to`, most calls first. */
export async function listUnpriced(
  client: pg.ClientBase | pg.Pool,
  accountId: number,
  { from, to, book }: { readonly from: Date; readonly to: Date; readonly book: PriceBook },
): Promise<readonly UnpricedModel[]> {
  const groups = await countUnpriced(client, accountId, from, to);
  const gaps = new Map<string, Gap>();
  for (const group of groups) {
    const reason = findReason(group, book);
    const terms = reason === 'terms' ? describeTerms(group) : null;
    const key = JSON.stringify([group.provider, group.model, group.endpoint, reason, terms]);
    const before = gaps.get(key);
    gaps.set(key, { group: before === undefined ? group : addGroups(before.group, group), reason, terms });
  }
  return [...gaps.values()].map(toUnpricedModel).sort((a, b) => b.calls - a.calls);
}
