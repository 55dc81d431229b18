/** Sends requests to providers. Never follows redirects, never decodes, never resends what may have been seen. */
import { lookUpPublic } from '../../sockets/public-addresses.ts';
import { chooseProxy, type EgressProxies } from '../../vocabulary/egress-proxy.ts';
import { type SharedNames, shareNames } from './shared-names.ts';
import type { UpstreamClient, UpstreamRequest } from './upstream.ts';
import type { ConnectionBudget } from './upstream-connector.ts';
import { UpstreamError } from './upstream-failure.ts';
import { DEFAULT_LIMITS, type UpstreamLimits } from './upstream-limits.ts';
import { UpstreamPool } from './upstream-pool.ts';

export function createUpstreamClient(
  egress: EgressProxies,
  limits: UpstreamLimits = DEFAULT_LIMITS,
  { lookUp, distrust }: SharedNames = shareNames(),
): UpstreamClient {
  /** One pool an origin; unused ones are dropped, since a client may name a region and with it a host. */
  const builtIn = {
    pools: new Map<string, UpstreamPool>(),
    lookUp: lookUpPublic(lookUp, () => new UpstreamError('PRIVATE_ADDRESS')),
  };
  /** Separate, since an address may be built in for one call and an operator's choice for another. */
  const chosen = { pools: new Map<string, UpstreamPool>(), lookUp };
  let connections = 0;
  const budget: ConnectionBudget = {
    take() {
      // An idle connection gives way; its `close` follows later.
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
    const proxy = chooseProxy(egress, origin);
    // The egress proxy resolves the provider's name; its own may be private.
    const ownLookUp = proxy === null ? kind.lookUp : lookUp;
    const pool = new UpstreamPool(origin, limits, { proxy, lookUp: ownLookUp, distrust, budget });
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
