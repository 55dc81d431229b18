/** Stops the parts in order: sockets, proxies, control, database. */
import type { Logger } from 'pino';
import { CONTROL_STOP_MS } from './control-child.ts';
import { DEMO_STOP_MS } from './demo-child.ts';
import type { GatewayParts } from './gateway-parts.ts';

/** Nothing is waited for once `isForced`. Call it once. */
export async function stopInOrder(
  parts: GatewayParts,
  drainMs: number,
  isForced: () => boolean,
  log: Logger,
): Promise<void> {
  // Our copies would keep the port open with nobody serving it.
  for (const socket of [...(parts.sockets?.sockets ?? []), ...(parts.demoSockets?.sockets ?? [])]) socket.close();
  const limit = (ms: number) => (isForced() ? 0 : ms);
  await parts.proxies?.stop(limit(drainMs));
  await Promise.all([parts.control?.stop(limit(CONTROL_STOP_MS)), parts.demo?.stop(limit(DEMO_STOP_MS))]);
  // A database start under way ends first, so that nothing is left behind.
  const opened = await parts.databaseStarting?.catch(() => null);
  await opened?.stop();
  if (parts.directory === null) return;
  parts.directory.release();
  log.info('stopped');
}
