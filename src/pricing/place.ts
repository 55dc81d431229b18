/**
 * Where a call was served, as far as its price may depend on it: a Bedrock geography or region, an OpenAI data
 * residency, or another seller's host. A call at a known place without a price there stays unpriced.
 */
import { isAwsRegion } from '../providers/aws-host.ts';
import { readBedrockId } from './bedrock-id.ts';
import type { BillableCall } from './billable-call.ts';

/** Where list prices hold: at Bedrock, the US regions that AWS lists. */
export const STANDARD_PLACE = 'standard';
/** AWS's public partition, for prices that are equal throughout it. */
export const COMMERCIAL = 'commercial';

/** Every OpenAI data residency: `eu`, `us`, `jp`. */
export const RESIDENCY = 'residency';
const RESIDENCY_NAME = /^[a-z]{2}$/;

export interface Place {
  /** For display: `eu-west-2`, `us-gov`, `eu`, `standard`. */
  readonly name: string;
  /** Names under which prices may hold here, the narrowest first. */
  readonly names: readonly string[];
}

const STANDARD: Place = { name: STANDARD_PLACE, names: [STANDARD_PLACE] };

/** AWS prices these alike. Source: AWS, Bedrock pricing, November 2026. */
const US_REGIONS: readonly string[] = ['us-east-1', 'us-east-2', 'us-west-2'];
const GOVERNMENT = 'us-gov';
const GLOBAL = 'global';
/** China, the European sovereign cloud and isolated partitions have their own prices. */
const OTHER_PARTITION = /^(?:cn-|eusc-|[a-z]{2}-iso)/;

function readBedrockPlace(model: string, region: string | null): Place {
  const { geography } = readBedrockId(model);
  // Another partition's profile is not served there, so nothing has a price.
  if (region?.startsWith('us-gov-') === true && geography !== null && geography !== GOVERNMENT)
    return { name: region, names: [] };
  // Only government profiles are served in the government partition, and only there.
  if (geography === GOVERNMENT || region?.startsWith('us-gov-') === true) {
    const names = region?.startsWith('us-gov-') === true ? [region, GOVERNMENT] : [GOVERNMENT];
    return { name: region?.startsWith('us-gov-') === true ? region : GOVERNMENT, names };
  }
  if (region !== null && OTHER_PARTITION.test(region)) return { name: region, names: [region] };
  if (geography === GLOBAL) return { name: GLOBAL, names: [GLOBAL] };
  if (geography === 'us') return { name: STANDARD_PLACE, names: [geography, STANDARD_PLACE, COMMERCIAL] };
  if (geography !== null) return { name: geography, names: [geography, COMMERCIAL] };
  if (region === null || US_REGIONS.includes(region))
    return { name: STANDARD_PLACE, names: [...(region === null ? [] : [region]), STANDARD_PLACE, COMMERCIAL] };
  return { name: region, names: [region, COMMERCIAL] };
}

function isSellersHost(region: string): boolean {
  return region.includes('.');
}

export function isSellersPlace({ name }: Place): boolean {
  return isSellersHost(name);
}

/** For when the operator declared that the seller's prices are list prices or a factor of them. */
export function toListPlace(place: Place): Place {
  return isSellersPlace(place) ? STANDARD : place;
}

/** `model` is the looked-up id; null when the call names none. */
export function readPlace(
  { provider, region }: Pick<BillableCall, 'provider' | 'region'>,
  model: string | null,
): Place {
  // A host that no provider owns is another seller's.
  if (region !== null && isSellersHost(region)) return { name: region, names: [region] };
  if (provider === 'bedrock') return readBedrockPlace(model ?? '', region);
  // Anthropic's answer says where it was served, whichever AWS region was called.
  if (region === null || (provider === 'anthropic' && isAwsRegion(region))) return STANDARD;
  return { name: region, names: RESIDENCY_NAME.test(region) ? [region, RESIDENCY] : [region] };
}
