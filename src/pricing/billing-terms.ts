/**
 * What a call is billed as: the model id to look up and the terms that change its price, each read from the field that
 * the provider's invoice follows. A term that is not known here is kept as it is, and then no rule matches it: the call
 * stays unpriced instead of getting the standard price.
 */
import type { ProviderName } from '../call-record.ts';
import type { BillableCall } from './billable-call.ts';
import { type Place, readPlace } from './place.ts';

/** Longer ids are not looked up. */
export const MAX_MODEL_LENGTH = 512;

/** Providers whose answers name the model without its region or account: the request says what is billed. */
const BILLED_AS_REQUESTED: readonly ProviderName[] = ['bedrock', 'fireworks'];

/** The kinds of ARN whose last part is a model id. All others (application profiles, custom models, …) are opaque. */
const NAMING_ARN = /^arn:aws[\w-]*:bedrock:[\w-]*:\d*:(?:inference-profile|foundation-model)\/([^/]+)$/;

export function readBillingModel(call: Pick<BillableCall, 'provider' | 'model' | 'modelRequested'>): string | null {
  const named = BILLED_AS_REQUESTED.includes(call.provider) ? call.modelRequested : (call.model ?? call.modelRequested);
  if (named === null || named === '') return null;
  if (call.provider === 'bedrock') return NAMING_ARN.exec(named)?.[1] ?? named;
  if (call.provider === 'gemini') return named.replace(/^models\//, '');
  return named;
}

export interface BillingTerms {
  readonly serviceTier: string;
  readonly speed: string;
  readonly inferenceGeo: string;
  readonly place: Place;
}

const STANDARD = 'standard';
const BATCH = 'batch';

/** Words for the standard price. `auto` never stands in an answer; it is here for providers that echo the request. */
const STANDARD_TIERS = ['', 'standard', 'default', 'auto', 'on_demand', 'unspecified', 'service_tier_unspecified'];
const STANDARD_SPEEDS = ['', 'standard', 'default'];
const STANDARD_GEOS = ['', 'standard', 'global', 'not_available'];
/** OpenAI renamed priority processing to fast mode on 2026-07-30, and Google says tiers in two ways. */
const TIER_NAMES: ReadonlyMap<string, string> = new Map([
  ['fast', 'priority'],
  ['on_demand_priority', 'priority'],
  ['on_demand_flex', 'flex'],
]);

function readTerm(value: string | null, standard: readonly string[]): string {
  const word = (value ?? '').toLowerCase();
  return standard.includes(word) ? STANDARD : word;
}

/** No provider sells a batch on the terms of another tier: of an answer that says both, nobody knows which is billed. */
function readTier({ serviceTier, isBatch }: Pick<BillableCall, 'serviceTier' | 'isBatch'>): string {
  const word = readTerm(serviceTier, STANDARD_TIERS);
  const tier = TIER_NAMES.get(word) ?? word;
  if (!isBatch || tier === BATCH) return tier;
  return tier === STANDARD ? BATCH : `${BATCH} and ${tier}`;
}

/** `model`: the id that prices are looked up by, which at Bedrock says where it is served. */
export function readBillingTerms(
  call: Pick<BillableCall, 'provider' | 'serviceTier' | 'speed' | 'inferenceGeo' | 'region' | 'isBatch'>,
  model: string | null,
): BillingTerms {
  return {
    serviceTier: readTier(call),
    speed: readTerm(call.speed, STANDARD_SPEEDS),
    inferenceGeo: readTerm(call.inferenceGeo, STANDARD_GEOS),
    place: readPlace(call, model),
  };
}
