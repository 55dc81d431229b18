/**
 * What there is of a gateway. A start fills it in from above; whatever ends the gateway meanwhile finds what is there
 * to end. It starts and ends nothing itself.
 */
import type { DataDirectory } from './data-directory.ts';
import type { Database } from './database.ts';
import type { ListeningSockets } from './listening-sockets.ts';
import type { ProxyFleet } from './proxy-fleet.ts';
import type { SupervisedChild } from './supervised-child.ts';
import type { TlsRenewal } from './tls/tls-renewal.ts';

/** Null: not yet, or none in this gateway. Mutable: filled in while the start goes on. */
export interface GatewayParts {
  directory: DataDirectory | null;
  sockets: ListeningSockets | null;
  demoSockets: ListeningSockets | null;
  tls: TlsRenewal | null;
  databaseStarting: Promise<Database> | null;
  database: Database | null;
  proxies: ProxyFleet | null;
  control: SupervisedChild | null;
  demo: SupervisedChild | null;
}

export function createGatewayParts(): GatewayParts {
  return {
    ...{ directory: null, sockets: null, demoSockets: null, tls: null, databaseStarting: null, database: null },
    ...{ proxies: null, control: null, demo: null },
  };
}

export function listChildren({ proxies, control, demo }: GatewayParts): readonly SupervisedChild[] {
  return [...(proxies?.children() ?? []), control, demo].filter((child) => child !== null);
}
