/** The time limits towards providers, with their reasons. */

const MAX_CONNECTIONS = 20_000;

export interface UpstreamLimits {
  /** To a connection that can be written to, TLS included, over all addresses of the name. */
  readonly connectTimeoutMs: number;
  /** To one of several addresses, before the next is tried; the last one has what is left of the whole. */
  readonly addressTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** Between two bytes of an answer. */
  readonly idleTimeoutMs: number;
  /** Of a connection without a call. */
  readonly keepAliveMs: number;
  readonly keepAliveMaxMs: number;
  /** A connection that was idle for longer is looked at once more before it is written to. */
  readonly trustedIdleMs: number;
  /** How long a call waits for a connection whose answer is all but over, before it opens one. */
  readonly soonFreeMs: number;
  /** How often open calls and idle connections are looked over; the limits above are exact to this. */
  readonly sweepIntervalMs: number;
  /** To all providers together, idle ones too. */
  readonly maxConnections: number;
}

export const DEFAULT_LIMITS: UpstreamLimits = {
  connectTimeoutMs: 10_000,
  // Node gives half a second, which a far provider over a bad line does not always make; a way that is dead (IPv6 that
  // leads nowhere, mostly) costs this much for each new connection.
  addressTimeoutMs: 1_000,
  // Reasoning models send their headers when they are done: half an hour is seen, so the limit is twice that.
  headersTimeoutMs: 60 * 60_000,
  idleTimeoutMs: 15 * 60_000,
  // Below the idle limits of the providers' edges, so that a kept connection is not closed while a call is on its way.
  keepAliveMs: 30_000,
  keepAliveMaxMs: 300_000,
  // No server closes after less; under load connections are taken again within milliseconds.
  trustedIdleMs: 250,
  // About what a handshake with a provider takes.
  soonFreeMs: 50,
  sweepIntervalMs: 1_000,
  maxConnections: MAX_CONNECTIONS,
};
