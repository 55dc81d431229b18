/** The body of a long answer, as fast as the client takes it. What ends early breaks off, never ends well. */

export interface PulledStreamOptions {
  /** Before the first piece; may be empty. */
  readonly head: Uint8Array;
  /** The next piece; null after the last. */
  readonly next: () => Promise<Uint8Array | null>;
  /** For a client to take something: one that does not holds what the pieces come from for nothing. */
  readonly stallLimitMs: number;
  /** Breaks the client's connection off. */
  readonly destroy: () => void;
  /** Once, when it is over: null after the last piece, else what went wrong. */
  readonly onEnd: (failure: StreamFailure | null) => void;
}

export type StreamFailure =
  | { readonly kind: 'client-gone' }
  | { readonly kind: 'client-stalled' }
  | { readonly kind: 'failed'; readonly error: unknown };

export function createPulledStream(options: PulledStreamOptions): ReadableStream<Uint8Array> {
  const { head, next, stallLimitMs, destroy, onEnd } = options;
  let stall: NodeJS.Timeout | undefined;
  let isOver = false;

  function finish(failure: StreamFailure | null): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(stall);
    onEnd(failure);
  }

  /**
   * So that the client cannot take what it has for the whole. The connection itself: of a stream that merely fails, the
   * server would send the reason as more of the body, and end it well.
   */
  function breakOff(failure: StreamFailure): void {
    if (isOver) return;
    finish(failure);
    destroy();
  }

  function awaitReader(): void {
    stall = setTimeout(() => breakOff({ kind: 'client-stalled' }), stallLimitMs);
    stall.unref();
  }

  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (head.length > 0) controller.enqueue(head);
      awaitReader();
    },
    async pull(controller) {
      if (isOver) return;
      clearTimeout(stall);
      try {
        const piece = await next();
        if (isOver) return;
        if (piece === null) {
          finish(null);
          controller.close();
          return;
        }
        controller.enqueue(piece);
        awaitReader();
      } catch (error) {
        breakOff({ kind: 'failed', error });
      }
    },
    cancel: () => finish({ kind: 'client-gone' }),
  });
}

/** For the log. */
export function describeFailure(failure: StreamFailure): { readonly reason: string; readonly err?: unknown } {
  return failure.kind === 'failed' ? { reason: failure.kind, err: failure.error } : { reason: failure.kind };
}
