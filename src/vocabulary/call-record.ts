/**
 * The records of a call: `begin` is written before the first byte goes to the provider, `checkpoint` before usage or a
 * terminal event goes to the client, `end` before the last byte does. They carry usage and never cost, which the
 * shipper adds, and never a credential.
 */
import type { ProviderName } from '../providers/registry.ts';
import type { CallFlag, ReportedUsage, TokenUsage, UsageSource } from './token-usage.ts';

export { PROVIDER_NAMES, type ProviderName } from '../providers/registry.ts';

export type Outcome =
  | 'ok'
  | 'upstream_error'
  | 'upstream_stream_error'
  | 'upstream_truncated'
  /** No answer: no connection, no name, no headers in time. */
  | 'upstream_unreachable'
  | 'client_closed'
  /** Refused after the account was known, before anything was forwarded. */
  | 'rejected'
  | 'gateway_error'
  | 'shutdown_cut'
  /** The gateway process died. Only the shipper writes it. */
  | 'interrupted';

/** The part of the answer that had not come when the client went: its head, any of its body, or its end. */
export const CLOSED_BEFORE = ['head', 'first_byte', 'end'] as const;
export type ClosedBefore = (typeof CLOSED_BEFORE)[number];

/** Known when the call is forwarded. Absent values are null, never empty strings. */
export interface CallBegin {
  /** UUIDv7; its millisecond is `requestedAtMs`. */
  readonly id: string;
  readonly requestedAtMs: number;
  readonly accountId: number;
  readonly keyId: number;
  readonly node: string;
  readonly client: string | null;
  /** As `sockets/ip-address.ts` spells it; null when it is not kept. Older releases wrote none. */
  readonly clientAddress?: string | null;
  readonly provider: ProviderName;
  readonly providerAlias: string | null;
  /** The endpoint's family, e.g. `chat.completions`, `messages`, `unknown`. */
  readonly endpoint: string;
  /**
   * False for endpoints that cost nothing (token counting, listings), and for those that fetch a result made elsewhere,
   * unless the end says `billedOnceAs` or `result_unread`: `cost_status` is then `not_billed`.
   */
  readonly billed: boolean;
  readonly method: string;
  /** Path and query as received, with secret values replaced by `***`. */
  readonly path: string;
  readonly modelRequested: string | null;
  /** Null when neither path nor body says. */
  readonly streamed: boolean | null;
  readonly isBatch: boolean;
  readonly region: string | null;
  /** The client's own retry count (`x-stainless-retry-count`, `amz-sdk-request`). */
  readonly attempt: number | null;
  /** The id of the websocket's own record, in it and in those of its turns. Absent for all other calls. */
  readonly connectionId?: string;
  /** As received (UTF-8 when valid, else Latin-1), within the limits. */
  readonly traceId: string | null;
  readonly spanPath: string | null;
  readonly spanName: string | null;
  /** Every other `X-Gateway-*` header: name without the prefix, value; in order of arrival, repeated names joined. */
  readonly metadata: readonly (readonly [string, string])[];
  readonly flags: readonly CallFlag[];
  /** Counts the accepted calls of its process from 1, with no gaps. Older releases wrote none. */
  readonly ordinal?: number;
  /** Where `traceId` comes from: `header`, or a source of the key's `runs_from`. Absent outside runs. */
  readonly traceSource?: string;
  /** The run is that of the conversation's first tool call, if its bodies have one. Absent where the key has no such source. */
  readonly isPlacedByToolCalls?: true;
  /** The agent that called, of a client that tells: `main`, or the sub-agent's id. */
  readonly agent?: string;
  readonly agentSession?: string;
  /** From `main` down to the agent, joined by `/`, as far as this call tells. */
  readonly agentPath?: string;
  readonly agentTurn?: string;
  /** What it holds in budgets until its end settles it; absent where it comes under none. */
  readonly budgets?: readonly BudgetHold[];
}

export interface BudgetHold {
  /** 0: the budget that the run's calls have set for it. */
  readonly budgetId: number;
  readonly value: string;
  /** 0 for budgets without periods. */
  readonly periodStartMs: number;
  /** USD. */
  readonly amount: string;
  /** What this call said of its run's own budget. */
  readonly runLimit?: string;
}

export interface CallCheckpoint {
  readonly id: string;
  readonly status: number;
  readonly responseBytes: number;
  readonly elapsedMs: number;
  readonly reading: ReportedUsage;
}

/** With the begin that is repeated in the same frame it is the whole call. */
export interface CallEnd {
  readonly id: string;
  readonly status: number | null;
  readonly outcome: Outcome;
  readonly errorType: string | null;
  /** Bounded to 1,000 characters, from the provider's answer or the gateway; never from the request. */
  readonly errorMessage: string | null;
  readonly providerRequestId: string | null;
  /** The provider's id of the answer. Absent unless the key makes runs of chains of answers. */
  readonly answerId?: string;
  /** As in begin, or learnt since: a large body is forwarded before its model is read. */
  readonly modelRequested: string | null;
  readonly streamed: boolean | null;
  readonly model: string | null;
  readonly serviceTier: string | null;
  readonly speed: string | null;
  readonly inferenceGeo: string | null;
  readonly usage: TokenUsage | null;
  readonly usageSource: UsageSource;
  /** A result's id at the provider, with its final usage here: the first record with the id counts it. */
  readonly billedOnceAs?: string;
  /** The id of a result that is made later; the call that fetches it has it as `billedOnceAs`. Older releases wrote none. */
  readonly billedLaterAs?: string;
  /** USD that count in the begin's budgets, below 0 where a result has cost less than was held for it; null: unknown, so that each counts what it held. Absent without budgets. */
  readonly budgetCost?: string | null;
  /** For `client_closed` only. Older releases wrote none. */
  readonly closedBefore?: ClosedBefore;
  readonly flags: readonly CallFlag[];
  /** `requestedAtMs` + the monotonic duration. */
  readonly respondedAtMs: number;
  readonly durationMs: number;
  /** Until the upstream connection was ready; null on a kept-alive connection. */
  readonly connectMs: number | null;
  readonly headersMs: number | null;
  readonly firstByteMs: number | null;
  /** Until the first event of a stream that carries content; null for JSON answers. */
  readonly firstTokenMs: number | null;
  /** The gateway's own time from the request head's arrival to the dispatch, without waiting for the client's body. */
  readonly overheadUs: number | null;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Allow-listed headers only, as [name, value]. */
  readonly requestHeaders: readonly (readonly [string, string])[];
  readonly responseHeaders: readonly (readonly [string, string])[];
}

/** One direction of a call's body as it went over the wire (still encoded), head and tail kept beyond the limit. */
export interface CallBody {
  readonly id: string;
  readonly requestedAtMs: number;
  readonly direction: 'request' | 'response';
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly totalBytes: number;
  /** How many of `bytes` are the head; the rest is the tail, and the middle is missing. */
  readonly headBytes: number;
  readonly bytes: Buffer;
}

export type SpoolEntry =
  | { readonly type: 'begin'; readonly begin: CallBegin }
  | { readonly type: 'checkpoint'; readonly checkpoint: CallCheckpoint }
  | { readonly type: 'body'; readonly body: CallBody }
  | { readonly type: 'end'; readonly begin: CallBegin; readonly end: CallEnd };
