/** A long answer's body at the client's pace. An early end breaks the connection. */

export interface PulledStreamOptions {
  readonly head: Uint8Array;
  readonly next: () => Promise<Uint8Array | null>;
  /** The time for a client to take something. */
  readonly stallLimitMs: number;
  readonly destroy: () => void;
  /** Called once: null after the last piece, else the failure. */
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

  /** Cuts the connection: a stream's error would be sent as body and end it normally, like a whole answer. */
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

export function describeFailure(failure: StreamFailure): { readonly reason: string; readonly err?: unknown } {
  return failure.kind === 'failed' ? { reason: failure.kind, err: failure.error } : { reason: failure.kind };
}
