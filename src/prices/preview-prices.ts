/**
 * What a change of the declared prices would do to calls that are in the log: the same calls with the price book as it
 * would be, beside what stands in their rows. Nothing is stored, and other work of the process is let through.
 */
import { setImmediate } from 'node:timers/promises';
import type { ProviderName } from '../call-record.ts';
import type { CostStatus } from '../cost-status.ts';
import type { PriceBook } from '../pricing/price-book.ts';
import { type PicoUsd, parseUsd } from '../usd.ts';
import type { PreviewedRow } from './preview-calls.ts';
import { toStoredCall } from './stored-call.ts';

/** Calls that are priced in one go: a few milliseconds. */
const CALLS_AT_A_TIME = 200;
const MAX_EXAMPLES = 10;

export interface PreviewSums {
  calls: number;
  changed: number;
  oldCost: PicoUsd;
  newCost: PicoUsd;
  oldUnpriced: number;
  newUnpriced: number;
}

export interface PreviewExample {
  readonly id: string;
  readonly requestedAt: Date;
  readonly model: string | null;
  readonly oldCost: PicoUsd;
  readonly newCost: PicoUsd;
  readonly oldStatus: CostStatus;
  readonly newStatus: CostStatus;
}

export interface PricePreview {
  readonly sums: Readonly<PreviewSums>;
  /** By provider and model, most changed calls first. */
  readonly models: readonly (Readonly<PreviewSums> & {
    readonly provider: ProviderName;
    readonly model: string | null;
  })[];
  /** The latest that would change. */
  readonly examples: readonly PreviewExample[];
}

function createSums(): PreviewSums {
  return { calls: 0, changed: 0, oldCost: 0n, newCost: 0n, oldUnpriced: 0, newUnpriced: 0 };
}

interface Compared extends PreviewExample {
  readonly provider: ProviderName;
  readonly isChanged: boolean;
  readonly wasUnpriced: boolean;
  readonly isUnpriced: boolean;
}

/** The cost of a call without a total is what is known of it. */
function compareCall(row: PreviewedRow, book: PriceBook): Compared {
  const priced = book.priceCall(toStoredCall(row));
  const oldCost = parseUsd(row.total_cost ?? row.known_cost ?? '0');
  const newCost = priced.totalCost ?? priced.knownCost;
  return {
    id: row.id,
    requestedAt: row.requested_at,
    provider: row.provider,
    model: row.billing_model ?? row.model ?? row.model_requested,
    ...{ oldCost, newCost, oldStatus: row.cost_status, newStatus: priced.costStatus },
    isChanged:
      oldCost !== newCost || row.cost_status !== priced.costStatus || row.billing_model !== priced.billingModel,
    wasUnpriced: row.total_cost === null,
    isUnpriced: priced.totalCost === null,
  };
}

function addTo(sums: PreviewSums, call: Compared): void {
  sums.calls += 1;
  sums.changed += call.isChanged ? 1 : 0;
  sums.oldCost += call.oldCost;
  sums.newCost += call.newCost;
  sums.oldUnpriced += call.wasUnpriced ? 1 : 0;
  sums.newUnpriced += call.isUnpriced ? 1 : 0;
}

/** `rows` newest first. */
export async function previewPrices(rows: readonly PreviewedRow[], book: PriceBook): Promise<PricePreview> {
  const sums = createSums();
  const models = new Map<string, PreviewSums & { provider: ProviderName; model: string | null }>();
  const examples: PreviewExample[] = [];
  for (const [index, row] of rows.entries()) {
    if (index % CALLS_AT_A_TIME === CALLS_AT_A_TIME - 1) await setImmediate();
    const call = compareCall(row, book);
    const { provider, model } = call;
    const key = JSON.stringify([provider, model]);
    const sumsOfModel = models.get(key) ?? { provider, model, ...createSums() };
    models.set(key, sumsOfModel);
    addTo(sums, call);
    addTo(sumsOfModel, call);
    if (call.isChanged && examples.length < MAX_EXAMPLES) examples.push(call);
  }
  return { sums, models: [...models.values()].sort((a, b) => b.changed - a.changed || b.calls - a.calls), examples };
}
