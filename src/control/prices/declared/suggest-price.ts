/** The command that would give a model its price, with capitals for what only the operator knows. */
import { readBillingTerms } from '../../../pricing/billing-terms.ts';
import { isSellersPlace } from '../../../pricing/place.ts';
import { ROW_TIERS } from '../../../pricing/price-row.ts';
import type { UsageClass } from '../../../vocabulary/token-usage.ts';
import type { UnpricedGroup } from './count-unpriced.ts';
import type { UnpricedReason } from './unpriced-reason.ts';

/** Classes with their own option in `tollgate prices set`; others use `--rate class=usd`. */
const RATE_OPTIONS: Readonly<Partial<Record<UsageClass, string>>> = {
  input: '--input',
  cache_read: '--cache-read',
  output: '--output',
};

/** Quotes a word for a shell: ids come from clients. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function suggestRates(missing: readonly UsageClass[]): string {
  return missing
    .map((name) => `${RATE_OPTIONS[name] ?? `--rate ${name}=`}${name in RATE_OPTIONS ? ' ' : ''}USD`)
    .join(' ');
}

/** A declared price holds wherever the model is served. */
function suggestTier(group: UnpricedGroup): string {
  const terms = readBillingTerms(group, group.model);
  if (terms.serviceTier === 'standard' && terms.speed === 'standard' && terms.inferenceGeo === 'standard') return '';
  const isTierAlone = terms.speed === 'standard' && terms.inferenceGeo === 'standard';
  const tier = ROW_TIERS.find((name) => name === terms.serviceTier);
  return `--tier ${isTierAlone && tier !== undefined ? tier : 'any'} `;
}

function isElsewhere(group: UnpricedGroup): boolean {
  return isSellersPlace(readBillingTerms(group, group.model).place);
}

export function suggestPrice(group: UnpricedGroup, reason: UnpricedReason): string {
  if (group.model !== null && /\p{Cc}/u.test(group.model)) return 'The id has control characters; look at the example.';
  const target = `${group.provider} ${quote(group.model ?? '')}`;
  const alias = group.providerAlias === null ? '' : ` --alias ${quote(group.providerAlias)}`;
  switch (reason) {
    case 'unknown_model':
    case 'no_rate_for_class':
      return `tollgate prices set ${target} ${suggestRates(group.missing)}`;
    case 'terms':
      // Another seller's price does not apply to the provider's own calls.
      return `tollgate prices set ${target}${isElsewhere(group) ? alias : ''} ${suggestTier(group)}${suggestRates(group.missing)}`;
    case 'opaque_id':
      return `tollgate prices map ${target} --to MODEL${group.provider === 'bedrock' ? '' : alias}`;
    case 'priced_by_now':
      return `tollgate reprice --provider ${group.provider}`;
    case 'result_unread':
      return 'A result was fetched and could not be read; the example says why. Fetched again whole, as JSON, it is counted.';
    case 'unknown_endpoint':
      return 'The gateway does not know what this endpoint does, nor what it costs; no declared price changes that.';
    case 'no_model':
      return 'Neither the request nor the answer names a model, so no price can be declared for it.';
  }
}
