/**
 * What is written about a call while it lives: `begin` before the first byte goes to the provider, `checkpoint` before
 * usage or a terminal event goes to the client, `end` before the last byte goes to the client. The proxy writes them to
 * the spool; the shipper prices them and makes the row. They carry usage and the context of cost, never cost, and
 * never a credential.
 */
import type { CallFlag, TokenUsage, UsageReading, UsageSource } from './token-usage.ts';

export const PROVIDER_NAMES = [
  'openai',
  'anthropic',
  'gemini',
  'bedrock',
  'fireworks',
  'together',
  'deepseek',
] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** How a call ended; a closed list. */
export type Outcome =
  | 'ok'
  /** The provider answered with a status of 400 or above. */
  | 'upstream_error'
  /** An error event inside an answer that had begun with success. */
  | 'upstream_stream_error'
  /** The provider's answer was cut. */
  | 'upstream_truncated'
  /** No answer: no connection, no name, no headers in time. */
  | 'upstream_unreachable'
  | 'client_closed'
  /** Refused by the gateway after the account was known, before anything was forwarded. */
  | 'rejected'
  | 'gateway_error'
  | 'shutdown_cut'
  /** The gateway process died while the call was open. Written by the shipper only. */
  | 'interrupted';

/** What of the answer had not come when the client went: its head, any of its body, or its end. */
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
  /** In the spelling of `sockets/ip-address.ts`; null when it is not kept. Older releases wrote none. */
  readonly clientAddress?: string | null;
  readonly provider: ProviderName;
  readonly providerAlias: string | null;
  /** The endpoint's family, e.g. `chat.completions`, `messages`, `unknown`. */
  readonly endpoint: string;
  /**
   * False for endpoints that cost nothing by themselves (token counting, listings), and for those that fetch a result
   * which was made elsewhere, unless the end says `billedOnceAs` or that it could not be read (`result_unread`):
   * `cost_status` `not_billed`.
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
  /** As received (UTF-8 when valid, else Latin-1), within the limits. */
  readonly traceId: string | null;
  readonly spanPath: string | null;
  readonly spanName: string | null;
  /** Every other `X-Gateway-*` header: name without the prefix, value; in order of arrival, names joined once. */
  readonly metadata: readonly (readonly [string, string])[];
  readonly flags: readonly CallFlag[];
  /** 1 for the first accepted call of its process, with no gaps: how many there were. Older releases wrote none. */
  readonly ordinal?: number;
}

export interface CallCheckpoint {
  readonly id: string;
  readonly status: number;
  readonly responseBytes: number;
  readonly elapsedMs: number;
  readonly reading: UsageReading;
}

/** The ending. Together with the begin that is repeated in the same frame it is the whole call. */
export interface CallEnd {
  readonly id: string;
  /** The HTTP status sent to the client; null when none was sent. */
  readonly status: number | null;
  readonly outcome: Outcome;
  readonly errorType: string | null;
  /** Bounded to 1,000 characters, from the provider's answer or the gateway; never from the request. */
  readonly errorMessage: string | null;
  readonly providerRequestId: string | null;
  /** As in begin, or learnt since (a large body is forwarded before its model is read). */
  readonly modelRequested: string | null;
  readonly streamed: boolean | null;
  readonly model: string | null;
  readonly serviceTier: string | null;
  readonly speed: string | null;
  readonly inferenceGeo: string | null;
  readonly usage: TokenUsage | null;
  readonly usageSource: UsageSource;
  /**
   * The provider's id of a result that can be fetched more than once, when this answer carries its final usage: the
   * first record with that id counts it. Absent for all other calls.
   */
  readonly billedOnceAs?: string;
  /** Of `client_closed` only. Older releases wrote none. */
  readonly closedBefore?: ClosedBefore;
  /** All flags, those of begin included. */
  readonly flags: readonly CallFlag[];
  /** `requestedAtMs` + the monotonic duration. */
  readonly respondedAtMs: number;
  readonly durationMs: number;
  /** Until the upstream connection was ready; null when a kept-alive connection was used. */
  readonly connectMs: number | null;
  /** Until the provider's status line and headers. */
  readonly headersMs: number | null;
  readonly firstByteMs: number | null;
  /** Until the first event of a stream that carries content; null for JSON answers. */
  readonly firstTokenMs: number | null;
  /**
   * The gateway's own share before forwarding: from the request head's arrival to the dispatch, less time spent waiting
   * for the client's body.
   */
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
  /**
   * Bytes of `bytes` that are the head; when `headBytes < bytes.length` the rest is the tail, and the middle is
   * missing.
   */
  readonly headBytes: number;
  readonly bytes: Buffer;
}

/** What a reader of the spool finds, in the order in which it was written. */
export type SpoolEntry =
  | { readonly type: 'begin'; readonly begin: CallBegin }
  | { readonly type: 'checkpoint'; readonly checkpoint: CallCheckpoint }
  | { readonly type: 'body'; readonly body: CallBody }
  | { readonly type: 'end'; readonly begin: CallBegin; readonly end: CallEnd };
