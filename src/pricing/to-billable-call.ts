/**
 * From the records of a call to what the price book is asked. Everything that is priced goes through here. No
 * arithmetic.
 */
import type { CallBegin, CallEnd } from '../call-record.ts';
import type { BillableCall } from './billable-call.ts';

/** What of a call's beginning can change its price. */
export type BilledBegin = Pick<
  CallBegin,
  'provider' | 'providerAlias' | 'endpoint' | 'billed' | 'requestedAtMs' | 'region' | 'isBatch'
>;

/** What of its ending can. */
export type BilledEnd = Pick<
  CallEnd,
  | 'model'
  | 'modelRequested'
  | 'serviceTier'
  | 'speed'
  | 'inferenceGeo'
  | 'outcome'
  | 'status'
  | 'errorType'
  | 'usage'
  | 'usageSource'
  | 'billedOnceAs'
  | 'flags'
>;

export function toBillableCall(begin: BilledBegin, end: BilledEnd): BillableCall {
  return {
    provider: begin.provider,
    providerAlias: begin.providerAlias,
    endpoint: begin.endpoint,
    billed: begin.billed || end.billedOnceAs !== undefined || end.flags.includes('result_unread'),
    isLater: end.flags.includes('usage_later'),
    isUnreadResult: end.flags.includes('result_unread'),
    requestedAtMs: begin.requestedAtMs,
    model: end.model,
    modelRequested: end.modelRequested,
    serviceTier: end.serviceTier,
    speed: end.speed,
    inferenceGeo: end.inferenceGeo,
    region: begin.region,
    isBatch: begin.isBatch,
    outcome: end.outcome,
    status: end.status,
    errorType: end.errorType,
    usage: end.usage,
    usageSource: end.usageSource,
  };
}
