/** A shared bound on bytes held in memory by many calls together. Who cannot take goes on without holding. */
export interface ByteBudget {
  /** False when the limit would be passed; nothing is taken then. */
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
