/** The price book's input from a log row, which cannot tell free calls (`not_billed`, `no_usage`). */
import type { BillableCall } from '../../../pricing/billable-call.ts';
import type { LlmRequestRow } from '../../store/log-columns.ts';
import { readStoredUsage } from '../../store/stored-usage.ts';

export const BILLABLE_COLUMNS = [
  'id',
  'requested_at',
  'account_id',
  'provider',
  'provider_alias',
  'endpoint',
  'model',
  'model_requested',
  'service_tier',
  'speed',
  'inference_geo',
  'region',
  'is_batch',
  'outcome',
  'status',
  'error_type',
  'usage',
  'native_usage',
  'reasoning_tokens',
  'usage_source',
  'flags',
] as const;

export type BillableRow = Pick<LlmRequestRow, (typeof BILLABLE_COLUMNS)[number]>;

export const PRICED_STATUSES = ['exact', 'partial', 'unpriced'] as const;

export function billableFromRow(row: BillableRow): BillableCall {
  return {
    provider: row.provider,
    providerAlias: row.provider_alias,
    endpoint: row.endpoint,
    billed: true,
    isBilledElsewhere: false,
    isPrewarm: row.flags.includes('prewarm'),
    isUnreadResult: row.flags.includes('result_unread'),
    requestedAtMs: row.requested_at.getTime(),
    model: row.model,
    modelRequested: row.model_requested,
    serviceTier: row.service_tier,
    speed: row.speed,
    inferenceGeo: row.inference_geo,
    region: row.region,
    isBatch: row.is_batch,
    outcome: row.outcome,
    status: row.status,
    errorType: row.error_type,
    usage: readStoredUsage(row.usage, { reasoning: row.reasoning_tokens, native: row.native_usage }),
    usageSource: row.usage_source,
  };
}
