/** Computes a call's exact cost. It is pure, never throws on a call, and guesses no price. */
import { createHash } from 'node:crypto';
import type { Outcome } from '../vocabulary/call-record.ts';
import type { CostStatus } from '../vocabulary/cost-status.ts';
import type { OtherUsage, TokenUsage } from '../vocabulary/token-usage.ts';
import type { BillableCall, CostLine, PricedCall } from './billable-call.ts';
import { isModelWhole, MAX_MODEL_LENGTH, readBillingModel, readBillingTerms } from './billing-terms.ts';
import { type Catalog, createCatalog } from './catalog.ts';
import type { PricingSituation } from './class-rate.ts';
import {
  addGroups,
  type CostLines,
  countPromptTokens,
  createCostLines,
  listQuantities,
  type Quantity,
} from './cost-lines.ts';
import { createModelPrices, type ModelPrices, type ModelRename } from './model-prices.ts';
import {
  compileOperatorPrices,
  type DeclaredFor,
  type Discount,
  type MappedModel,
  NO_OPERATOR_PRICES,
  type OperatorPrices,
} from './operator-prices.ts';
import { listYieldingDays } from './overlay-prices.ts';
import { OVERLAY_RATE_CARDS } from './overlay-rate-cards.ts';
import { DERIVED_RULES, MULTIPLIER_RULES, RENAME_RULES } from './overlay-rules.ts';
import { toListPlace } from './place.ts';
import { isValidAt, minuteOf } from './price-row.ts';

export interface PriceBook {
  /** Changes with any price, rule or catalog entry; stored with every priced call. */
  readonly version: string;
  readonly priceCall: (call: BillableCall) => PricedCall;
  /** For display: every row and rule of a model, in force or not, after renames. */
  readonly findPrices: (call: DeclaredFor, model: string) => FoundPrices;
  /** Whether the call's whole minute has one price. All but operators' prices change on the minute. */
  readonly isMinuteSteady: (atMs: number) => boolean;
}

export interface FoundPrices {
  readonly billingModel: string;
  readonly mapping: MappedModel | null;
  /** The rule by which this name is served by another model, or null. */
  readonly rename: ModelRename | null;
  readonly discount: Discount | null;
  readonly prices: ModelPrices;
}

export interface PriceBookLayers {
  readonly catalog?: Catalog;
  readonly operator?: OperatorPrices;
}

/** Part of the version. Raise it when arithmetic or price choice changes. */
const ENGINE_VERSION = 11;
const VERSION_LENGTH = 16;

const UNKNOWN_ENDPOINT = 'unknown';

/** Without reported usage, these outcomes are free. */
const FREE_OUTCOMES: readonly Outcome[] = ['upstream_error', 'rejected'];
/** The connection failed before the request was sent. After other errors the provider may have worked. */
const FREE_ERRORS: readonly string[] = ['upstream_name', 'upstream_tls', 'upstream_connect_timeout'];

function isFreeWithoutUsage(call: BillableCall): boolean {
  if (FREE_OUTCOMES.includes(call.outcome)) return true;
  // A redirect serves nothing; the client asks again elsewhere.
  if (call.status !== null && call.status >= 300 && call.status < 400) return true;
  return call.outcome === 'upstream_unreachable' && FREE_ERRORS.includes(call.errorType ?? '');
}

/** Only Anthropic's own API does this. Source: Claude Platform, release notes, 2 June 2026. */
const FREE_REFUSAL = { provider: 'anthropic', fromMs: Date.UTC(2026, 5, 2) } as const;

function isFreeRefusal(call: BillableCall): boolean {
  const isDeclared = call.provider === FREE_REFUSAL.provider && call.requestedAtMs >= FREE_REFUSAL.fromMs;
  return isDeclared && call.usage?.isRefused === true;
}

function statusWithoutUsage(call: BillableCall): CostStatus {
  if (call.isBilledElsewhere || isFreeWithoutUsage(call)) return 'not_billed';
  // The result has a cost of which nothing is known.
  if (call.isUnreadResult === true) return 'partial';
  return call.endpoint === UNKNOWN_ENDPOINT ? 'unpriced' : 'no_usage';
}

/** Some hosts report zeros where they did not count, and no answer is free of tokens. */
function isSilent(call: BillableCall, lines: readonly CostLine[]): boolean {
  const { outcome, isBatch, isPrewarm, usageSource } = call;
  return (
    outcome === 'ok' &&
    !isBatch &&
    isPrewarm !== true &&
    usageSource === 'provider' &&
    lines.every(({ quantity }) => quantity === 0)
  );
}

function toDeclaredFor({ provider, providerAlias, requestedAtMs }: BillableCall): DeclaredFor {
  return { provider, providerAlias, atMs: requestedAtMs };
}

function addCosts(first: CostLines, second: CostLines): CostLines {
  return {
    lines: [...first.lines, ...second.lines],
    knownCost: first.knownCost + second.knownCost,
    isComplete: first.isComplete && second.isComplete,
    groups: addGroups(first.groups, second.groups),
  };
}

let overlay: string | null = null;

/** Once for all books. */
function readOverlay(): string {
  overlay ??= JSON.stringify([OVERLAY_RATE_CARDS, MULTIPLIER_RULES, DERIVED_RULES, RENAME_RULES]);
  return overlay;
}

export function createPriceBook({
  catalog = createCatalog(),
  operator = NO_OPERATOR_PRICES,
}: PriceBookLayers = {}): PriceBook {
  const declared = compileOperatorPrices(operator);
  const readModelPrices = createModelPrices(catalog, declared);
  const own = JSON.stringify(operator);
  const digest = createHash('sha256')
    .update(
      `${ENGINE_VERSION}\n${catalog.data()}\n${readOverlay()}\n${listYieldingDays(catalog.checkedOn).join()}\n${own}`,
    )
    .digest('hex');
  const version = digest.slice(0, VERSION_LENGTH);

  /** A name that is billed as another model from some time on. */
  function findRename({ atMs }: DeclaredFor, { renames }: ModelPrices): ModelRename | undefined {
    return renames.find((rule) => isValidAt(rule, atMs));
  }

  function followRename(call: DeclaredFor, model: string): ModelPrices {
    const named = readModelPrices(call, model);
    const rename = findRename(call, named);
    if (rename === undefined) return named;
    const served = readModelPrices(call, rename.model);
    // What the operator declares for the name outranks the prices of its model.
    return { ...served, rows: [...served.rows, ...named.rows.filter((row) => row.layer === 'override')] };
  }

  function readSituation(
    call: BillableCall,
    model: string,
    quantities: readonly Quantity[],
    {
      largestPrompt,
      hasUnknownPrompts,
      hasUnknownWrites,
      pictures,
    }: Pick<TokenUsage, 'largestPrompt' | 'hasUnknownPrompts' | 'hasUnknownWrites' | 'pictures'>,
  ): PricingSituation {
    const declaredFor = toDeclaredFor(call);
    const discount = declared.findDiscount(declaredFor);
    const terms = readBillingTerms(call, model);
    return {
      prices: followRename(declaredFor, model),
      terms: discount?.isForAlias === true ? { ...terms, place: toListPlace(terms.place) } : terms,
      atMs: call.requestedAtMs,
      promptTokens: largestPrompt ?? countPromptTokens(quantities),
      isSumOfPrompts: hasUnknownPrompts === true,
      hasUnknownWrites: hasUnknownWrites === true,
      pictures,
      discount,
    };
  }

  function createUnpriced(billingModel: string | null, costStatus: CostStatus): PricedCall {
    const cost = costStatus === 'not_billed' ? 0n : null;
    return {
      billingModel,
      costStatus,
      totalCost: cost,
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

  function mapModel(call: BillableCall, model: string): string {
    return declared.findMapping(toDeclaredFor(call), model)?.billingModel ?? model;
  }

  /** Priced at its own model's rates, by its own prompt's length. */
  function priceOther(call: BillableCall, billingModel: string, other: OtherUsage): CostLines {
    const quantities = listQuantities(other.classes);
    const model = other.model === null ? billingModel : mapModel(call, other.model);
    const served = other.terms === undefined ? call : { ...call, ...other.terms };
    const costs = createCostLines(readSituation(served, model, quantities, other), quantities);
    return { ...costs, lines: costs.lines.map((line) => ({ ...line, model, purpose: other.purpose })) };
  }

  function priceCall(call: BillableCall): PricedCall {
    const named = readBillingModel(call);
    const billingModel = named === null ? null : mapModel(call, named);
    if (!call.billed || isFreeRefusal(call)) return createUnpriced(billingModel, 'not_billed');
    const quantities = listQuantities(call.usage?.classes ?? {});
    const others = call.usage?.others ?? [];
    if (quantities.length === 0 && others.length === 0) return createUnpriced(billingModel, statusWithoutUsage(call));
    if (billingModel === null || billingModel.length > MAX_MODEL_LENGTH)
      return createUnpriced(billingModel, 'unpriced');
    const situation = readSituation(call, billingModel, quantities, call.usage ?? {});
    if (situation.prices.rows.length === 0 && others.length === 0) return createUnpriced(billingModel, 'unpriced');

    const own = createCostLines(situation, quantities);
    const { lines, knownCost, isComplete, groups } = others.reduce(
      (sum, other) => addCosts(sum, priceOther(call, billingModel, other)),
      own,
    );
    if (lines.length === 0 && !isComplete) return createUnpriced(billingModel, 'unpriced');
    const isKnown = isComplete && call.usage?.isIncomplete !== true && isModelWhole(call);
    const isWhole = isKnown && !isSilent(call, lines);
    const isExact = isWhole && (call.usageSource === 'provider' || call.usageSource === 'request');
    return {
      billingModel,
      costStatus: isExact ? 'exact' : 'partial',
      totalCost: isExact ? knownCost : null,
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

  function findPrices(call: DeclaredFor, model: string): FoundPrices {
    const mapping = declared.findMapping(call, model);
    const billingModel = mapping?.billingModel ?? model;
    return {
      billingModel,
      mapping,
      rename: findRename(call, readModelPrices(call, billingModel)) ?? null,
      discount: declared.findDiscount(call),
      prices: followRename(call, billingModel),
    };
  }

  const isMinuteSteady = (atMs: number) => !declared.unsteadyMinutes.has(minuteOf(atMs));
  return { version, priceCall, findPrices, isMinuteSteady };
}
