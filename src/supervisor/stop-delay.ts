/**
 * The time between the wish to stop and the stop: `readyz` says 503, everything is served as before, and a load
 * balancer takes the gateway out of its list meanwhile. What is done about it, others do.
 */

export interface StopDelay {
  /** True once it has begun, for good. */
  readonly hasBegun: () => boolean;
  /** Begins it; resolves when it is over. Call it once. */
  readonly wait: () => Promise<void>;
  /** Ends it now, or before it begins. */
  readonly skip: () => void;
}

export function createStopDelay(delayMs: number): StopDelay {
  const over = Promise.withResolvers<void>();
  let hasBegun = false;
  return {
    hasBegun: () => hasBegun,
    wait: async () => {
      hasBegun = true;
      const timer = setTimeout(over.resolve, delayMs);
      await over.promise;
      clearTimeout(timer);
    },
    skip: over.resolve,
  };
}
