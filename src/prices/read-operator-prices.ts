/** The declarations of the operator as they stand in the database, in the form that the price book takes. Reads only. */
import type pg from 'pg';
import type { ProviderName } from '../call-record.ts';
import type { MatchKind, OperatorPrices } from '../pricing/operator-prices.ts';
import type { PromptTier, RowTier } from '../pricing/price-row.ts';
import type { UsageClass } from '../token-usage.ts';

interface ScopeRow {
  readonly id: number;
  readonly provider: ProviderName;
  readonly provider_alias: string | null;
  readonly valid_from: Date | null;
  readonly valid_to: Date | null;
}

interface OverrideRow extends ScopeRow {
  readonly match: MatchKind;
  readonly model: string;
  readonly service_tier: RowTier;
  readonly over_tokens: number | null;
  readonly up_to_tokens: number | null;
  readonly rates: Readonly<Partial<Record<UsageClass, string>>>;
}

interface MappingRow extends ScopeRow {
  readonly match: MatchKind;
  readonly model: string;
  readonly billing_model: string;
}

interface MultiplierRow extends ScopeRow {
  readonly factor: string;
}

const SCOPE = 'id, provider, provider_alias, valid_from, valid_to';

function toScope(row: ScopeRow) {
  return {
    id: row.id,
    provider: row.provider,
    providerAlias: row.provider_alias,
    validFromMs: row.valid_from?.getTime() ?? null,
    validToMs: row.valid_to?.getTime() ?? null,
  };
}

export function toPromptTier({
  over_tokens: over,
  up_to_tokens: upTo,
}: Pick<OverrideRow, 'over_tokens' | 'up_to_tokens'>): PromptTier | null {
  return over === null && upTo === null
    ? null
    : { overTokens: over ?? -1, upToTokens: upTo ?? Number.MAX_SAFE_INTEGER };
}

export async function readOperatorPrices(client: pg.ClientBase, accountId: number): Promise<OperatorPrices> {
  const prices = await client.query<OverrideRow>(
    `select ${SCOPE}, match, model, service_tier, over_tokens, up_to_tokens, rates
     from price_overrides where account_id = $1 order by id`,
    [accountId],
  );
  const mappings = await client.query<MappingRow>(
    `select ${SCOPE}, match, model, billing_model from price_mappings where account_id = $1 order by id`,
    [accountId],
  );
  const multipliers = await client.query<MultiplierRow>(
    `select ${SCOPE}, trim_scale(factor)::text as factor from price_multipliers where account_id = $1 order by id`,
    [accountId],
  );
  return {
    prices: prices.rows.map((row) => ({
      ...toScope(row),
      match: row.match,
      model: row.model,
      serviceTier: row.service_tier,
      promptTier: toPromptTier(row),
      rates: row.rates,
    })),
    mappings: mappings.rows.map((row) => ({
      ...toScope(row),
      match: row.match,
      model: row.model,
      billingModel: row.billing_model,
    })),
    multipliers: multipliers.rows.map((row) => ({ ...toScope(row), factor: row.factor })),
  };
}
