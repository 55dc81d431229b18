/** The parts of a gateway. A start fills them in; whatever ends the gateway meanwhile finds them here. */
import type { RestartStatus, SupervisorStatus } from '../vocabulary/channel.ts';
import type { LimitUse } from '../vocabulary/limit.ts';
import type { DataDirectory } from './data-directory.ts';
import type { Database } from './database.ts';
import type { ListeningSockets } from './listening-sockets.ts';
import type { ProxyFleet } from './proxy-fleet.ts';
import type { RecentAttempts } from './recent-attempts.ts';
import type { SupervisedChild } from './supervised-child.ts';
import type { TlsRenewal } from './tls/tls-renewal.ts';

/** Null: not yet there, or not part of this gateway. */
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
    directory: null,
    sockets: null,
    demoSockets: null,
    tls: null,
    databaseStarting: null,
    database: null,
    proxies: null,
    control: null,
    demo: null,
  };
}

export function listChildren({ proxies, control, demo }: GatewayParts): readonly SupervisedChild[] {
  return [...(proxies?.children() ?? []), control, demo].filter((child) => child !== null);
}

export function readGatewayStatus(
  startedAtMs: number,
  parts: GatewayParts,
  restart: RestartStatus,
  attempts: RecentAttempts,
  limitUse: readonly LimitUse[],
): SupervisorStatus {
  const certificate = parts.tls?.status();
  const database = parts.database?.status() ?? null;
  return {
    startedAtMs,
    restart,
    children: [...listChildren(parts).map((child) => child.status()), ...(database === null ? [] : [database])],
    attempts: attempts.list(),
    attemptsTotal: attempts.total(),
    attemptsNotShown: attempts.notShown(),
    limitUse,
    ...(certificate === undefined ? {} : { certificate }),
  };
}
