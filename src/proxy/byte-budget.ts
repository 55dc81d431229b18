/** A shared bound on the bytes that all calls together hold in memory. */
export interface ByteBudget {
  /** Returns false and takes nothing when the limit would be passed. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export function createByteBudget(limitBytes: number): ByteBudget {
  let heldBytes = 0;
  return {
    take(bytes) {
      if (heldBytes + bytes > limitBytes) return false;
      heldBytes += bytes;
      return true;
    },
    give(bytes) {
      heldBytes -= bytes;
    },
  };
}
