/** Lists unpriced models, each with the reason and the command to fix it, from counts of calls. */
import type pg from 'pg';
import type { BillableCall } from '../../../pricing/billable-call.ts';
import { readBillingTerms } from '../../../pricing/billing-terms.ts';
import { findNotedModel } from '../../../pricing/noted-models.ts';
import { STANDARD_PLACE } from '../../../pricing/place.ts';
import type { PriceBook } from '../../../pricing/price-book.ts';
import { PROVIDERS } from '../../../providers/registry.ts';
import type { ProviderName } from '../../../vocabulary/call-record.ts';
import {
  addClasses,
  type ClassQuantities,
  TOOL_CLASSES,
  USAGE_CLASSES,
  type UsageClass,
} from '../../../vocabulary/token-usage.ts';
import { formatUsd, parseUsd } from '../../../vocabulary/usd.ts';
import { WALK_LIMITS, type WalkLimits, walkWindow } from '../../log/walk-window.ts';
import { inSnapshot } from '../../store/pool.ts';
import { countUnpriced, type UnpricedGroup } from './count-unpriced.ts';
import { suggestPrice } from './suggest-price.ts';
import type { UnpricedReason } from './unpriced-reason.ts';

export interface UnpricedModel {
  readonly provider: ProviderName;
  readonly model: string | null;
  readonly endpoint: string;
  readonly reason: UnpricedReason;
  /** The unpriced terms in words; null unless they are the reason. */
  readonly terms: string | null;
  readonly calls: number;
  readonly missing: UsageClass[];
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly output_tokens: number;
  readonly other_quantities: ClassQuantities;
  readonly known_cost: string;
  readonly first_seen: string;
  readonly last_seen: string;
  readonly example_id: string;
  /** A command, or a sentence where no command helps. */
  readonly suggestion: string;
  /** The price book's note on a model without a price. */
  readonly note: string | null;
}

/** One call that used one of each missing class. */
function toCall(group: UnpricedGroup): BillableCall {
  const classes = Object.fromEntries(group.missing.map((name) => [name, 1]));
  return {
    ...group,
    billed: true,
    isBilledElsewhere: false,
    requestedAtMs: group.lastSeen.getTime(),
    modelRequested: group.model,
    outcome: 'ok',
    status: 200,
    errorType: null,
    usage: { classes, reasoning: null, native: {} },
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
  const isKnown = prices.rows.some(
    ({ usageClass }) => !TOOL_CLASSES.includes(usageClass) || group.missing.includes(usageClass),
  );
  if (!isKnown) return PROVIDERS[provider].opaqueModelId?.test(group.model) === true ? 'opaque_id' : 'unknown_model';
  if (book.priceCall({ ...call, ...STANDARD }).costStatus === 'exact') return 'terms';
  const isElsewhere = !readBillingTerms(call, group.model).place.names.includes(STANDARD_PLACE);
  const isPricedSomewhere = group.missing.every((name) => prices.rows.some(({ usageClass }) => usageClass === name));
  return isElsewhere && isPricedSomewhere ? 'terms' : 'no_rate_for_class';
}

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

/** A model that lacks a price for one reason. */
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

function sumOf(quantities: ClassQuantities, isCounted: (name: UsageClass) => boolean): number {
  const sum = USAGE_CLASSES.filter(isCounted).reduce((total, name) => total + (quantities[name] ?? 0), 0);
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}

function isOther(name: string): boolean {
  return name !== 'input' && name !== 'output' && !name.startsWith('cache_');
}

function toUnpricedModel({ group, reason, terms }: Gap): UnpricedModel {
  const { provider, model, endpoint, calls, missing, quantities } = group;
  return {
    provider,
    model,
    endpoint,
    reason,
    terms,
    calls,
    missing: [...missing],
    input_tokens: quantities.input ?? 0,
    cache_read_input_tokens: sumOf(quantities, (name) => name.startsWith('cache_read')),
    cache_creation_input_tokens: sumOf(quantities, (name) => name.startsWith('cache_creation')),
    output_tokens: quantities.output ?? 0,
    other_quantities: Object.fromEntries(Object.entries(quantities).filter(([name]) => isOther(name))),
    known_cost: formatUsd(parseUsd(group.knownCost)),
    first_seen: group.firstSeen.toISOString(),
    last_seen: group.lastSeen.toISOString(),
    example_id: group.exampleId,
    suggestion: suggestPrice(group, reason),
    note: model === null ? null : (findNotedModel(provider, model)?.withoutPrice ?? null),
  };
}

export interface UnpricedModels {
  /** Most calls first. */
  readonly models: UnpricedModel[];
  /** Calls before it were not looked at, since the time was spent; null when all were. */
  readonly searchedTo: Date | null;
}

interface UnpricedQuestion {
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
  readonly book: PriceBook;
}

/** Calls are walked, the newest first, as long as there is time. */
export async function listUnpriced(
  pool: pg.Pool,
  accountId: number,
  { from, to, book }: UnpricedQuestion,
  limits: WalkLimits = WALK_LIMITS,
): Promise<UnpricedModels> {
  const gaps = new Map<string, Gap>();
  const add = (group: UnpricedGroup): void => {
    const reason = findReason(group, book);
    const terms = reason === 'terms' ? describeTerms(group) : null;
    const key = JSON.stringify([group.provider, group.model, group.endpoint, reason, terms]);
    const before = gaps.get(key);
    gaps.set(key, { group: before === undefined ? group : addGroups(before.group, group), reason, terms });
  };
  const end = await inSnapshot(pool, (client) =>
    walkWindow(client, { over: 'calls', accountId, direction: 'newest_first', from, to }, limits, async (slice) => {
      const groups = await countUnpriced(client, accountId, slice.from ?? from, slice.to ?? to);
      for (const group of groups) add(group);
      return false;
    }),
  );
  return {
    models: [...gaps.values()].map(toUnpricedModel).sort((a, b) => b.calls - a.calls),
    searchedTo: end.type === 'time_spent' ? end.searchedTo : null,
  };
}
