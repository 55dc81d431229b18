/**
 * Where a call was served, as far as its price may depend on it: a geography or region of Amazon Bedrock, or a place of
 * data residency at OpenAI, or the host of another seller that speaks the provider's format. A price says for which
 * places it holds; what is known of a place and not in the price book leaves the call without a price, since the price
 * of another place is not its price.
 */
import { isAwsRegion } from '../aws-host.ts';
import { readBedrockId } from './bedrock-id.ts';
import type { BillableCall } from './billable-call.ts';

/** List prices without a place hold here: at Bedrock in the regions of the United States that AWS lists them for. */
export const STANDARD_PLACE = 'standard';
/** Every region and geography of AWS's public partition, for prices that are the same in all of them. */
export const COMMERCIAL = 'commercial';

/** Every place of OpenAI's data residency: `eu`, `us`, `jp`. */
export const RESIDENCY = 'residency';
const RESIDENCY_NAME = /^[a-z]{2}$/;

export interface Place {
  /** For people: `eu-west-2`, `us-gov`, `eu`; `standard`. */
  readonly name: string;
  /** Under which names prices may hold here, the narrowest first. */
  readonly names: readonly string[];
}

const STANDARD: Place = { name: STANDARD_PLACE, names: [STANDARD_PLACE] };

/** AWS prices them alike, and the price book has these prices. Source: AWS, Bedrock pricing, November 2026. */
const US_REGIONS: readonly string[] = ['us-east-1', 'us-east-2', 'us-west-2'];
const GOVERNMENT = 'us-gov';
const GLOBAL = 'global';
/** China, the European sovereign cloud and the isolated partitions have prices of their own. */
const OTHER_PARTITION = /^(?:cn-|eusc-|[a-z]{2}-iso)/;

function readBedrockPlace(model: string, region: string | null): Place {
  const { geography } = readBedrockId(model);
  // A profile of another partition is not served there: nothing has a price.
  if (region?.startsWith('us-gov-') === true && geography !== null && geography !== GOVERNMENT)
    return { name: region, names: [] };
  // A government profile is served in its own partition, and nothing else is served there.
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

/** Regions and places have no dot. */
function isSellersHost(region: string): boolean {
  return region.includes('.');
}

export function isSellersPlace({ name }: Place): boolean {
  return isSellersHost(name);
}

/** Of a call to another seller whose prices the operator has declared to be list prices, or a factor of them. */
export function toListPlace(place: Place): Place {
  return isSellersPlace(place) ? STANDARD : place;
}

/** `model` is the id that prices are looked up by; null when the call names none. */
export function readPlace(
  { provider, region }: Pick<BillableCall, 'provider' | 'region'>,
  model: string | null,
): Place {
  // A host that is nobody's of the seven: another seller, with prices of its own.
  if (region !== null && isSellersHost(region)) return { name: region, names: [region] };
  if (provider === 'bedrock') return readBedrockPlace(model ?? '', region);
  // Anthropic says in its answer where it worked, whichever region of AWS its platform was reached in.
  if (region === null || (provider === 'anthropic' && isAwsRegion(region))) return STANDARD;
  return { name: region, names: RESIDENCY_NAME.test(region) ? [region, RESIDENCY] : [region] };
}
