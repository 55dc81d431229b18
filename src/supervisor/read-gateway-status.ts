/** What the supervisor answers when control asks how the gateway is. */
import type { RestartStatus, SupervisorStatus } from '../channel.ts';
import { type GatewayParts, listChildren } from './gateway-parts.ts';
import type { RecentAttempts } from './recent-attempts.ts';

export function readGatewayStatus(
  startedAtMs: number,
  parts: GatewayParts,
  restart: RestartStatus,
  attempts: RecentAttempts,
): SupervisorStatus {
  const certificate = parts.tls?.status();
  const database = parts.database?.status() ?? null;
  return {
    ...{ startedAtMs, restart },
    children: [...listChildren(parts).map((child) => child.status()), ...(database === null ? [] : [database])],
    attempts: attempts.list(),
    attemptsTotal: attempts.total(),
    attemptsNotShown: attempts.notShown(),
    ...(certificate === undefined ? {} : { certificate }),
  };
}
