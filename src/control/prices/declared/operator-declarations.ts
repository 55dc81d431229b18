/** Converts declarations to the price book's form. */
import type pg from 'pg';
import type {
  OperatorMapping,
  OperatorMultiplier,
  OperatorPrice,
  OperatorPrices,
  OperatorScope,
} from '../../../pricing/operator-prices.ts';
import type { PromptTier } from '../../../pricing/price-row.ts';
import type { Declaration, Mapping, Multiplier, Override } from './declaration.ts';
import { listDeclarations } from './declaration-store.ts';

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

function toOperatorPrice(declared: WithId<Override>): OperatorPrice {
  const { match, model, service_tier: serviceTier, rates } = declared;
  return { ...toScope(declared), match, model, serviceTier, promptTier: toPromptTier(declared), rates };
}

function toOperatorMapping(declared: WithId<Mapping>): OperatorMapping {
  const { match, model, billing_model: billingModel } = declared;
  return { ...toScope(declared), match, model, billingModel };
}

function toOperatorMultiplier(declared: WithId<Multiplier>): OperatorMultiplier {
  return { ...toScope(declared), factor: declared.factor };
}

export async function readOperatorPrices(client: pg.ClientBase, accountId: number): Promise<OperatorPrices> {
  const prices = await listDeclarations(client, accountId, 'override');
  const mappings = await listDeclarations(client, accountId, 'mapping');
  const multipliers = await listDeclarations(client, accountId, 'multiplier');
  return {
    prices: prices.map(toOperatorPrice),
    mappings: mappings.map(toOperatorMapping),
    multipliers: multipliers.map(toOperatorMultiplier),
  };
}

/** Adds an unstored declaration, which has no number yet. */
export function addDeclaration(prices: OperatorPrices, declaration: WithId<Declaration>): OperatorPrices {
  switch (declaration.kind) {
    case 'override':
      return { ...prices, prices: [...prices.prices, toOperatorPrice(declaration)] };
    case 'mapping':
      return { ...prices, mappings: [...prices.mappings, toOperatorMapping(declaration)] };
    case 'multiplier':
      return { ...prices, multipliers: [...prices.multipliers, toOperatorMultiplier(declaration)] };
  }
}
