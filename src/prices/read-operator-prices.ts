/** The declarations of the operator as they stand in the database, in the form that the price book takes. Reads only. */
import type pg from 'pg';
import type { OperatorPrices } from '../pricing/operator-prices.ts';
import { listDeclarations } from './declaration-store.ts';
import { MAPPINGS, MULTIPLIERS, OVERRIDES } from './declaration-tables.ts';
import { toOperatorMapping, toOperatorMultiplier, toOperatorPrice } from './to-operator-prices.ts';

export async function readOperatorPrices(client: pg.ClientBase, accountId: number): Promise<OperatorPrices> {
  const prices = await listDeclarations(client, accountId, OVERRIDES);
  const mappings = await listDeclarations(client, accountId, MAPPINGS);
  const multipliers = await listDeclarations(client, accountId, MULTIPLIERS);
  return {
    prices: prices.map(toOperatorPrice),
    mappings: mappings.map(toOperatorMapping),
    multipliers: multipliers.map(toOperatorMultiplier),
  };
}
