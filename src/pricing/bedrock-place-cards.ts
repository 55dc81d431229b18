/**
 * Amazon Bedrock outside of the regions that AWS lists first: what models cost in one region or partition, where that is
 * not the price of the United States. Where nothing is declared here, and no rule holds, a region has no price.
 */
import type { RateCard } from './overlay-row.ts';

const LITELLM_MAP = 'AWS, Bedrock pricing by region, as the map of BerriAI/litellm of 2026-08-01 has it';

function createRegionCard(region: string, model: string, [input, output]: readonly [string, string]): RateCard {
  return {
    name: `bedrock/${region}/${model}`,
    provider: 'bedrock',
    match: { equals: model },
    rates: { input, output },
    places: [region],
    source: LITELLM_MAP,
    checkedOn: '2026-08-01',
  };
}

/** 1.2 times the global price, where the catalogue's regional price is 1.1 times it. */
function createGovCard(
  model: string,
  [input, cacheRead, cacheWrite, output]: readonly [string, string, string, string],
): RateCard {
  return {
    name: `bedrock/us-gov/${model}`,
    provider: 'bedrock',
    match: { regex: `^anthropic\\.${model}(-v1(:0)?)?$` },
    rates: { input, cache_read: cacheRead, cache_creation_5m: cacheWrite, output },
    places: ['us-gov'],
    source: 'AWS, price list of GovCloud, as BerriAI/litellm#39764 read it; Portkey-AI/models of 2026-08-21',
    checkedOn: '2026-08-21',
  };
}

const LLAMA_3_8B = 'meta.llama3-8b-instruct-v1:0';
const LLAMA_3_70B = 'meta.llama3-70b-instruct-v1:0';

export const BEDROCK_PLACE_CARDS: readonly RateCard[] = [
  createGovCard('claude-sonnet-4-5-20250929', ['3.6', '0.36', '4.5', '18']),
  createGovCard('claude-haiku-4-5-20251001', ['1.2', '0.12', '1.5', '6']),
  createGovCard('claude-sonnet-5', ['2.4', '0.24', '3', '12']),
  createRegionCard('ap-south-1', LLAMA_3_8B, ['0.36', '0.72']),
  createRegionCard('ap-south-1', LLAMA_3_70B, ['3.18', '4.2']),
  createRegionCard('ca-central-1', LLAMA_3_8B, ['0.35', '0.69']),
  createRegionCard('ca-central-1', LLAMA_3_70B, ['3.05', '4.03']),
  createRegionCard('eu-west-1', LLAMA_3_8B, ['0.32', '0.65']),
  createRegionCard('eu-west-1', LLAMA_3_70B, ['2.86', '3.78']),
  createRegionCard('eu-west-2', LLAMA_3_8B, ['0.39', '0.78']),
  createRegionCard('eu-west-2', LLAMA_3_70B, ['3.45', '4.55']),
  createRegionCard('sa-east-1', LLAMA_3_8B, ['0.5', '1.01']),
  createRegionCard('sa-east-1', LLAMA_3_70B, ['4.45', '5.88']),
  createRegionCard('eu-west-3', 'mistral.mistral-7b-instruct-v0:2', ['0.2', '0.26']),
  createRegionCard('eu-west-3', 'mistral.mixtral-8x7b-instruct-v0:1', ['0.59', '0.91']),
  createRegionCard('eu-west-2', 'nvidia.nemotron-super-3-120b', ['0.23', '1.01']),
];
