/** Step: refuses what the call's key does not allow, as far as the request's head tells. The network comes first: a stranger with the key learns nothing else. */
import { matchesAny } from '../keys/allowance.ts';
import type { Caller } from '../sockets/read-caller.ts';
import { createTrustedPeers, type TrustedPeers } from '../sockets/trusted-peers.ts';
import { GatewayError } from '../vocabulary/errors.ts';
import { requireAllowedName } from './allowed-model.ts';
import type { CallContext } from './call-context.ts';
import { notAllowed } from './not-allowed.ts';

/** Stands in a key's aliases for a provider's own upstream. */
const NO_ALIAS = '-';

/** By the key's list, which is the same until the key changes. */
const NETWORKS = new WeakMap<readonly string[], TrustedPeers>();

export function admit(call: CallContext, caller: Caller): void {
  const { key, route } = call;
  const { allow } = key;
  if (allow === undefined) return;
  const { networks, providers, aliases, endpoints, models } = allow;
  if (networks !== undefined && !isInside(networks, caller.address)) throw new GatewayError('network_not_allowed');
  if (providers !== undefined && !providers.includes(route.provider.name))
    throw notAllowed('provider_not_allowed', key, providers);
  if (aliases !== undefined && !aliases.includes(route.alias ?? NO_ALIAS))
    throw notAllowed('alias_not_allowed', key, aliases);
  if (endpoints !== undefined && !matchesAny(endpoints, route.endpoint.family))
    throw notAllowed('endpoint_not_allowed', key, endpoints);
  if (models !== undefined) requireAllowedName(call, models);
}

function isInside(networks: readonly string[], address: string | null): boolean {
  let peers = NETWORKS.get(networks) ?? null;
  if (peers === null) {
    peers = createTrustedPeers(networks);
    if (peers !== null) NETWORKS.set(networks, peers);
  }
  return address !== null && peers?.has(address) === true;
}
