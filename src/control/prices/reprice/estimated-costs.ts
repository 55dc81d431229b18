/** Re-prices estimated costs. No roll-up has them, so they need no revision. */
import type pg from 'pg';
import type { BillableCall, PriceCall } from '../../../pricing/billable-call.ts';
import type { JsonObject } from '../../../vocabulary/token-usage.ts';
import { formatUsd, type PicoUsd, parseUsd } from '../../../vocabulary/usd.ts';
import { billableFromRow } from '../declared/billable-from-row.ts';
import type { PricedRow } from './reprice-call.ts';

/** Null without an estimate or a price. */
export type PriceEstimate = (call: BillableCall, estimatedTokens: JsonObject, priceCall: PriceCall) => PicoUsd | null;

const UPDATE = `
  update llm_requests r set estimated_cost = x.cost
  from jsonb_to_recordset($1::jsonb) as x (id uuid, requested_at timestamptz(3), cost numeric)
  where r.id = x.id and r.requested_at = x.requested_at and r.requested_at between $2::timestamptz and $3::timestamptz
    and r.estimated_tokens is not null`;

/** Runs in the chunk's transaction. Returns the number of changes. */
export async function updateEstimates(
  client: pg.ClientBase,
  rows: readonly PricedRow[],
  priceCall: PriceCall,
  priceEstimate: PriceEstimate,
): Promise<number> {
  const changes = rows.flatMap((row) => {
    if (row.estimated_tokens === null) return [];
    const cost = priceEstimate(billableFromRow(row), row.estimated_tokens, priceCall);
    const old = row.estimated_cost === null ? null : parseUsd(row.estimated_cost);
    if (cost === old) return [];
    return [{ id: row.id, requested_at: row.requested_at.toISOString(), cost: cost === null ? null : formatUsd(cost) }];
  });
  if (changes.length === 0) return 0;
  const times = changes.map(({ requested_at: time }) => time).sort();
  const { rowCount } = await client.query(UPDATE, [JSON.stringify(changes), times.at(0), times.at(-1)]);
  return rowCount ?? 0;
}
