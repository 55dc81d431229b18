/** The delay before a stop, in which a load balancer takes the gateway out of its list. */

export interface StopDelay {
  readonly hasBegun: () => boolean;
  /** Begins the delay and resolves at its end. Call it once. */
  readonly wait: () => Promise<void>;
  /** Ends the delay, also before it begins. */
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
