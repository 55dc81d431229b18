/** Prices logged calls as after a change. It stores nothing and yields to other work. */
import { setImmediate } from 'node:timers/promises';
import type { PriceBook } from '../../../pricing/price-book.ts';
import type { ProviderName } from '../../../vocabulary/call-record.ts';
import type { CostStatus } from '../../../vocabulary/cost-status.ts';
import { formatUsd, parseUsd } from '../../../vocabulary/usd.ts';
import { billableFromRow } from './billable-from-row.ts';
import { type CostSums, createCostSummer, type SummedCall } from './cost-sums.ts';
import type { PreviewedRow } from './preview-calls.ts';

/** A few milliseconds of work. */
const CALLS_AT_A_TIME = 200;
const MAX_EXAMPLES = 10;

export interface PreviewExample {
  readonly id: string;
  readonly requested_at: string;
  readonly model: string | null;
  readonly old_cost: string;
  readonly new_cost: string;
  readonly old_status: CostStatus;
  readonly new_status: CostStatus;
}

export interface PricePreview extends CostSums {
  /** Most changed calls first. */
  readonly models: (CostSums & { readonly provider: ProviderName; readonly model: string | null })[];
  readonly examples: PreviewExample[];
}

interface Compared extends SummedCall {
  readonly model: string | null;
  readonly newStatus: CostStatus;
}

/** A call without a total counts with its known part. */
function compareCall(row: PreviewedRow, book: PriceBook): Compared {
  const priced = book.priceCall(billableFromRow(row));
  const oldCost = parseUsd(row.total_cost ?? row.known_cost ?? '0');
  const newCost = priced.totalCost ?? priced.knownCost;
  return {
    model: row.billing_model ?? row.model ?? row.model_requested,
    oldCost,
    newCost,
    newStatus: priced.costStatus,
    isChanged:
      oldCost !== newCost || row.cost_status !== priced.costStatus || row.billing_model !== priced.billingModel,
    wasUnpriced: row.total_cost === null,
    isUnpriced: priced.totalCost === null,
  };
}

function toExample(row: PreviewedRow, { model, oldCost, newCost, newStatus }: Compared): PreviewExample {
  return {
    id: row.id,
    requested_at: row.requested_at.toISOString(),
    model,
    old_cost: formatUsd(oldCost),
    new_cost: formatUsd(newCost),
    old_status: row.cost_status,
    new_status: newStatus,
  };
}

/** `rows` newest first. */
export async function previewPrices(rows: readonly PreviewedRow[], book: PriceBook): Promise<PricePreview> {
  const all = createCostSummer();
  const models = new Map<string, { provider: ProviderName; model: string | null; sums: typeof all }>();
  const examples: PreviewExample[] = [];
  for (const [index, row] of rows.entries()) {
    if (index % CALLS_AT_A_TIME === CALLS_AT_A_TIME - 1) await setImmediate();
    const { provider } = row;
    const call = compareCall(row, book);
    const key = JSON.stringify([provider, call.model]);
    const own = models.get(key) ?? { provider, model: call.model, sums: createCostSummer() };
    models.set(key, own);
    all.add(call);
    own.sums.add(call);
    if (call.isChanged && examples.length < MAX_EXAMPLES) examples.push(toExample(row, call));
  }
  const byModel = [...models.values()].map(({ provider, model, sums }) => ({ provider, model, ...sums.read() }));
  return { ...all.read(), models: byModel.sort((a, b) => b.changed - a.changed || b.calls - a.calls), examples };
}
