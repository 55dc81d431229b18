export interface UpstreamLimits {
  /** Until a connection is ready, TLS included, over all addresses. */
  readonly connectTimeoutMs: number;
  /** For one address before the next is tried; the last has the rest of the whole. */
  readonly addressTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly keepAliveMs: number;
  readonly keepAliveMaxMs: number;
  /** After this much idling a connection is checked once more before use. */
  readonly trustedIdleMs: number;
  /** How long a call waits for a connection whose answer is nearly over. */
  readonly waitForIdleMs: number;
  /** Also the precision of the limits above. */
  readonly sweepIntervalMs: number;
  /** To all providers, idle ones included. */
  readonly maxConnections: number;
}

export const DEFAULT_LIMITS: UpstreamLimits = {
  connectTimeoutMs: 10_000,
  // Node's half a second is too short for a far provider over a bad line.
  addressTimeoutMs: 1_000,
  // Reasoning models send headers when done, which took up to half an hour.
  headersTimeoutMs: 60 * 60_000,
  idleTimeoutMs: 15 * 60_000,
  // Below the idle limits of the providers' edges.
  keepAliveMs: 30_000,
  keepAliveMaxMs: 300_000,
  // No server closes sooner.
  trustedIdleMs: 250,
  // About as long as a handshake.
  waitForIdleMs: 50,
  sweepIntervalMs: 1_000,
  maxConnections: 20_000,
};
