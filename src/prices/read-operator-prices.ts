/** The declarations of the operator as they stand in the database, in the form that the price book takes. Reads only. */
import type pg from 'pg';
import type { OperatorPrices } from '../pricing/operator-prices.ts';
import type { PromptTier } from '../pricing/price-row.ts';
import {
  type DeclarationTable,
  MAPPINGS,
  MULTIPLIERS,
  OVERRIDES,
  type OverrideRow,
  type ScopeRow,
} from './declaration-tables.ts';

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

async function readRows<T, Row extends ScopeRow>(
  client: pg.ClientBase,
  accountId: number,
  { table, select }: DeclarationTable<T, Row>,
): Promise<readonly Row[]> {
  const { rows } = await client.query<Row>(`select ${select} from ${table} where account_id = $1 order by id`, [
    accountId,
  ]);
  return rows;
}

export async function readOperatorPrices(client: pg.ClientBase, accountId: number): Promise<OperatorPrices> {
  const prices = await readRows(client, accountId, OVERRIDES);
  const mappings = await readRows(client, accountId, MAPPINGS);
  const multipliers = await readRows(client, accountId, MULTIPLIERS);
  return {
    prices: prices.map((row) => ({
      ...toScope(row),
      match: row.match,
      model: row.model,
      serviceTier: row.service_tier,
      promptTier: toPromptTier(row),
      rates: row.rates,
    })),
    mappings: mappings.map((row) => ({
      ...toScope(row),
      match: row.match,
      model: row.model,
      billingModel: row.billing_model,
    })),
    multipliers: multipliers.map((row) => ({ ...toScope(row), factor: row.factor })),
  };
}
