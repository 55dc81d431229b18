/** A call's model id and terms, from the fields that the invoice follows. Unknown terms have no price. */
import type { ProviderName } from '../vocabulary/call-record.ts';
import type { BillableCall } from './billable-call.ts';
import { type Place, readPlace } from './place.ts';

export const MAX_MODEL_LENGTH = 512;

/** These answers name the model without geography or account: the request tells what is billed. */
const BILLED_AS_REQUESTED: readonly ProviderName[] = ['bedrock', 'fireworks'];

/** ARNs whose last part is a model id; all others (application profiles, custom models, …) are opaque. */
const NAMING_ARN = /^arn:aws[\w-]*:bedrock:[\w-]*:\d*:(?:inference-profile|foundation-model)\/([^/]+)$/;

export function readBillingModel(call: Pick<BillableCall, 'provider' | 'model' | 'modelRequested'>): string | null {
  const named = BILLED_AS_REQUESTED.includes(call.provider)
    ? (call.modelRequested ?? call.model)
    : (call.model ?? call.modelRequested);
  if (named === null || named === '') return null;
  if (call.provider === 'bedrock') return NAMING_ARN.exec(named)?.[1] ?? named;
  if (call.provider === 'gemini') return named.replace(/^models\//, '');
  return named;
}

/** Whether the billed model is known with all that its price depends on. The fetch of an earlier call's result requests none. */
export function isModelWhole({ provider, modelRequested }: Pick<BillableCall, 'provider' | 'modelRequested'>): boolean {
  return modelRequested !== null || !BILLED_AS_REQUESTED.includes(provider);
}

export interface BillingTerms {
  readonly serviceTier: string;
  readonly speed: string;
  readonly inferenceGeo: string;
  readonly place: Place;
}

const STANDARD = 'standard';
const BATCH = 'batch';

/** Words for the standard price. `auto` is here for providers that echo the request. */
const STANDARD_TIERS = ['', 'standard', 'default', 'auto', 'on_demand', 'unspecified', 'service_tier_unspecified'];
const STANDARD_SPEEDS = ['', 'standard', 'default'];
const STANDARD_GEOS = ['', 'standard', 'global', 'not_available'];
/** OpenAI renamed priority processing to fast mode on 2026-07-30; Google has two names for each tier. */
const TIER_NAMES: ReadonlyMap<string, string> = new Map([
  ['fast', 'priority'],
  ['on_demand_priority', 'priority'],
  ['on_demand_flex', 'flex'],
]);

function readTerm(value: string | null, standard: readonly string[]): string {
  const word = (value ?? '').toLowerCase();
  return standard.includes(word) ? STANDARD : word;
}

/** No provider sells batches on another tier's terms; an answer with both is ambiguous. */
function readTier({ serviceTier, isBatch }: Pick<BillableCall, 'serviceTier' | 'isBatch'>): string {
  const word = readTerm(serviceTier, STANDARD_TIERS);
  const tier = TIER_NAMES.get(word) ?? word;
  if (!isBatch || tier === BATCH) return tier;
  return tier === STANDARD ? BATCH : `${BATCH} and ${tier}`;
}

/** `model` is the looked-up id, which at Bedrock says where it is served. */
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
