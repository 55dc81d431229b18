/**
 * Sends one request to a provider and hands its answer over as events. It never follows a redirect, never decodes, and
 * sends nothing twice that a provider could have seen. Without an egress proxy it is our own HTTP/1.1 client; with one,
 * undici's, which is loaded only then.
 */
import type { Readable } from 'node:stream';
import type { UpstreamFailure } from './upstream-failure.ts';
import { DEFAULT_LIMITS, type UpstreamLimits } from './upstream-limits.ts';
import { UpstreamPool } from './upstream-pool.ts';

export interface UpstreamRequest {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly method: string;
  /** Path and query, sent byte for byte. */
  readonly path: string;
  /** Flat [name, value, …], sent byte for byte; without `Host`, `Content-Length` and `Transfer-Encoding`. */
  readonly headers: readonly string[];
  readonly body: Buffer | Readable | null;
  /** Of a streamed body, where it is known; without it the body is sent in chunks. */
  readonly bodyBytes: number | null;
}

/** Called in this order; exactly one of `onEnd` and `onFailure` is the last, and none comes after an abort. */
export interface UpstreamEvents {
  /**
   * A connection is ready. `isReused` when it was kept from an earlier call; a kept one that turns out to be dead
   * before anything was sent is replaced, and this is called again.
   */
  onConnection(isReused: boolean): void;
  /** The final status line and headers, a flat list as received (Latin-1). Interim (1xx) answers are dropped. */
  onHead(status: number, reason: string, rawHeaders: string[]): void;
  /** A slice of what was received; not re-used. */
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** No answer, or an answer that was cut. */
  onFailure(failure: UpstreamFailure): void;
}

export interface UpstreamCall {
  abort(): void;
  /** Until `resume`, neither data nor the end are handed over, also of what was received already. */
  pause(): void;
  /** May hand over what was kept back before it returns. */
  resume(): void;
}

export interface UpstreamClient {
  /** May call the events before it returns. */
  send(request: UpstreamRequest, events: UpstreamEvents): UpstreamCall;
  close(): Promise<void>;
}

export interface EgressProxy {
  readonly httpProxy: string | null;
  readonly httpsProxy: string | null;
  readonly noProxy: string | null;
}

export async function createUpstreamClient(
  egress: EgressProxy,
  limits: UpstreamLimits = DEFAULT_LIMITS,
): Promise<UpstreamClient> {
  if (egress.httpProxy !== null || egress.httpsProxy !== null) {
    const { createProxiedClient } = await import('./upstream-through-proxy.ts');
    return createProxiedClient(egress, limits);
  }
  return createDirectClient(limits);
}

function createDirectClient(limits: UpstreamLimits): UpstreamClient {
  /** One pool an origin; origins come from the provider table and the settings, so there are few. */
  const pools = new Map<string, UpstreamPool>();
  const sweep = setInterval(() => {
    for (const pool of pools.values()) pool.sweep();
  }, limits.sweepIntervalMs);
  sweep.unref();

  return {
    send(request, events) {
      let pool = pools.get(request.origin);
      if (pool === undefined) {
        pool = new UpstreamPool(request.origin, limits);
        pools.set(request.origin, pool);
      }
      return pool.send(request, events);
    },
    async close() {
      clearInterval(sweep);
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}
