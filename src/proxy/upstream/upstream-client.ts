/**
 * Sends one request to a provider and hands its answer over as events. It never follows a redirect, never decodes, and
 * sends nothing twice that a provider could have seen. Without an egress proxy it is our own HTTP/1.1 client; with one,
 * undici's, which is loaded only then.
 */
import type { EgressProxy, UpstreamClient } from './upstream.ts';
import { DEFAULT_LIMITS, type UpstreamLimits } from './upstream-limits.ts';
import { UpstreamPool } from './upstream-pool.ts';

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
  /** One pool an origin. A client may name a region and with it a host, so pools that are not in use are let go. */
  const pools = new Map<string, UpstreamPool>();
  const sweep = setInterval(() => {
    for (const [origin, pool] of pools) {
      pool.sweep();
      if (pool.isUnused) pools.delete(origin);
    }
  }, limits.sweepIntervalMs);
  sweep.unref();

  function poolOf(origin: string): UpstreamPool {
    const known = pools.get(origin);
    if (known !== undefined) return known;
    const pool = new UpstreamPool(origin, limits);
    pools.set(origin, pool);
    return pool;
  }

  return {
    send: (request, events) => poolOf(request.origin).send(request, events),
    upgrade: (request, events) => poolOf(request.origin).upgrade(request, events),
    async close() {
      clearInterval(sweep);
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}
