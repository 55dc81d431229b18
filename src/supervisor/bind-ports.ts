/** Binds or probes all ports of a gateway and puts their addresses into its settings. */
import type { Config } from '../vocabulary/config.ts';
import { addDemoAlias } from './demo-child.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { checkAdminPort, type ListeningSockets, openListeningSockets } from './listening-sockets.ts';

export interface BoundPorts {
  readonly config: Config;
  readonly sockets: ListeningSockets;
}

/** Bound sockets are in `parts` at once, also when it throws. */
export async function bindPorts(given: Config, parts: GatewayParts): Promise<BoundPorts> {
  const sockets =
    given.role === 'control'
      ? { host: given.host, port: given.port, sockets: [] }
      : await openListeningSockets(given.host, given.port, given.workers);
  parts.sockets = sockets;
  const admin = await checkAdminPort(given.adminHost, given.adminPort);
  const config: Config = {
    ...given,
    host: sockets.host,
    port: sockets.port,
    adminHost: admin.host,
    adminPort: admin.port,
  };
  if (!given.demo) return { config, sockets };
  parts.demoSockets = await openListeningSockets('127.0.0.1', 0, 1);
  return { config: addDemoAlias(config, parts.demoSockets), sockets };
}
