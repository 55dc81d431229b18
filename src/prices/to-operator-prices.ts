/** Declarations in the form that the price book takes. Pure. */
import type { OperatorMapping, OperatorMultiplier, OperatorPrice, OperatorScope } from '../pricing/operator-prices.ts';
import type { PromptTier } from '../pricing/price-row.ts';
import type { Mapping, Multiplier, Override } from './declaration.ts';

type WithId<T> = T & { readonly id: number };

function toMs(time: string | null): number | null {
  return time === null ? null : Date.parse(time);
}

function toScope(declared: WithId<Override | Mapping | Multiplier>): OperatorScope {
  return {
    id: declared.id,
    provider: declared.provider,
    providerAlias: declared.provider_alias,
    validFromMs: toMs(declared.valid_from),
    validToMs: toMs(declared.valid_to),
  };
}

function toPromptTier({ over_tokens: over, up_to_tokens: upTo }: Override): PromptTier | null {
  return over === null && upTo === null
    ? null
    : { overTokens: over ?? -1, upToTokens: upTo ?? Number.MAX_SAFE_INTEGER };
}

export function toOperatorPrice(declared: WithId<Override>): OperatorPrice {
  const { match, model, service_tier: serviceTier, rates } = declared;
  return { ...toScope(declared), match, model, serviceTier, promptTier: toPromptTier(declared), rates };
}

export function toOperatorMapping(declared: WithId<Mapping>): OperatorMapping {
  const { match, model, billing_model: billingModel } = declared;
  return { ...toScope(declared), match, model, billingModel };
}

export function toOperatorMultiplier(declared: WithId<Multiplier>): OperatorMultiplier {
  return { ...toScope(declared), factor: declared.factor };
}
