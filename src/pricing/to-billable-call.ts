/** Converts a call's records to the price book's input; everything that is priced goes through here. */
import type { CallBegin, CallEnd } from '../vocabulary/call-record.ts';
import type { CallFlag } from '../vocabulary/token-usage.ts';
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

const COST_FLAGS = ['usage_later', 'usage_in_turns', 'prewarm', 'result_unread'] as const satisfies CallFlag[];

/** Whether a call with the flag is priced in another way than one without it. */
export function changesCost(flag: CallFlag): boolean {
  return COST_FLAGS.some((name) => name === flag);
}

function hasFlag({ flags }: BilledEnd, name: (typeof COST_FLAGS)[number]): boolean {
  return flags.includes(name);
}

export function toBillableCall(begin: BilledBegin, end: BilledEnd): BillableCall {
  return {
    provider: begin.provider,
    providerAlias: begin.providerAlias,
    endpoint: begin.endpoint,
    billed: begin.billed || end.billedOnceAs !== undefined || hasFlag(end, 'result_unread'),
    isBilledElsewhere: hasFlag(end, 'usage_later') || hasFlag(end, 'usage_in_turns'),
    isPrewarm: hasFlag(end, 'prewarm'),
    isUnreadResult: hasFlag(end, 'result_unread'),
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
