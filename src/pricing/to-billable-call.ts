/** Converts a call's records to the price book's input; everything that is priced goes through here. */
import type { CallBegin, CallEnd } from '../vocabulary/call-record.ts';
import type { BillableCall } from './billable-call.ts';

export type BilledBegin = Pick<
  CallBegin,
  'provider' | 'providerAlias' | 'endpoint' | 'billed' | 'requestedAtMs' | 'region' | 'isBatch'
>;

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
    isBilledElsewhere: end.flags.includes('usage_later') || end.flags.includes('usage_in_turns'),
    isPrewarm: end.flags.includes('prewarm'),
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
