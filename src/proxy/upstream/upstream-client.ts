/**
 * Sends one request to a provider and hands its answer over as events. It never follows a redirect, never decodes, and
 * sends nothing twice that a provider could have seen. Without an egress proxy it is our own HTTP/1.1 client; with one,
 * undici's, which is loaded only then.
 */
import { lookUpPublic } from './private-addresses.ts';
import { type SharedNames, shareNames } from './shared-names.ts';
import type { EgressProxy, UpstreamClient, UpstreamRequest } from './upstream.ts';
import type { ConnectionBudget } from './upstream-connector.ts';
import { DEFAULT_LIMITS, type UpstreamLimits } from './upstream-limits.ts';
import { UpstreamPool } from './upstream-pool.ts';

export async function createUpstreamClient(
  egress: EgressProxy,
  limits: UpstreamLimits = DEFAULT_LIMITS,
  names: SharedNames = shareNames(),
): Promise<UpstreamClient> {
  if (egress.httpProxy !== null || egress.httpsProxy !== null) {
    const { createProxiedClient } = await import('./upstream-through-proxy.ts');
    return createProxiedClient(egress, limits, names.lookUp);
  }
  return createDirectClient(limits, names);
}

function createDirectClient(limits: UpstreamLimits, { lookUp, distrust }: SharedNames): UpstreamClient {
  /** One pool an origin. A client may name a region and with it a host, so pools that are not in use are let go. */
  const builtIn = { pools: new Map<string, UpstreamPool>(), lookUp: lookUpPublic(lookUp) };
  /** Apart, since the same address may be built in for one call and an operator's choice for another. */
  const chosen = { pools: new Map<string, UpstreamPool>(), lookUp };
  let connections = 0;
  const budget: ConnectionBudget = {
    take() {
      // What is idle gives way; it is gone at once, its `close` comes a little later.
      if (connections >= limits.maxConnections && !dropIdle()) return false;
      connections += 1;
      return true;
    },
    give() {
      connections -= 1;
    },
  };
  const sweep = setInterval(() => {
    for (const { pools } of [builtIn, chosen]) {
      for (const [origin, pool] of pools) {
        pool.sweep();
        if (pool.isUnused) pools.delete(origin);
      }
    }
  }, limits.sweepIntervalMs);
  sweep.unref();

  function dropIdle(): boolean {
    for (const { pools } of [builtIn, chosen]) for (const pool of pools.values()) if (pool.dropIdle()) return true;
    return false;
  }

  function poolOf({ origin, mayBePrivate }: UpstreamRequest): UpstreamPool {
    const kind = mayBePrivate ? chosen : builtIn;
    const known = kind.pools.get(origin);
    if (known !== undefined) return known;
    const pool = new UpstreamPool(origin, limits, { lookUp: kind.lookUp, distrust, budget });
    kind.pools.set(origin, pool);
    return pool;
  }

  return {
    send: (request, events) => poolOf(request).send(request, events),
    upgrade: (request, events) => poolOf(request).upgrade(request, events),
    async close() {
      clearInterval(sweep);
      await Promise.all([...builtIn.pools.values(), ...chosen.pools.values()].map((pool) => pool.close()));
    },
  };
}
