/** What a websocket session is, where a call is one: who sends which bytes behind which, and when which usage is told. */

/** Frames of one side, sent when so many bytes of the other side's have come. */
export interface SessionStep {
  readonly behindBytes: number;
  readonly pauseMs: number;
  readonly bytes: Buffer;
}

export interface SessionPlan {
  /** `Sec-WebSocket-Extensions`, offered by the client and taken by the provider; null: none. */
  readonly extensions: string | null;
  readonly fromClient: readonly SessionStep[];
  readonly fromProvider: readonly SessionStep[];
  /** All of each side's steps. */
  readonly clientBytes: Buffer;
  readonly providerBytes: Buffer;
  readonly turns: readonly SessionTurn[];
  /** The side that closes first, and its code. */
  readonly goodbye: { readonly side: 'client' | 'provider'; readonly code: number };
}

export interface SessionTurn {
  /** Bytes of the provider's, behind which its usage has been told. */
  readonly toldAtBytes: number;
  /** What this turn alone used, as the row counts them: sound is in the cost, and in these only where it was read from a cache. */
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly outputTokens: number;
  /** Pico-dollars. */
  readonly cost: bigint;
}
