/** The order of a stop: no new calls, then no proxies, then no control process, then no database. When, others say. */
import type { Logger } from 'pino';
import { CONTROL_STOP_MS } from './control-child.ts';
import { DEMO_STOP_MS } from './demo-child.ts';
import type { GatewayParts } from './gateway-parts.ts';

/** `isForced` is asked before each step: from then on nothing is waited for. Call it once. */
export async function stopInOrder(
  parts: GatewayParts,
  drainMs: number,
  isForced: () => boolean,
  log: Logger,
): Promise<void> {
  // Ours are copies: with them open the port would go on taking connections that nobody serves.
  for (const socket of [...(parts.sockets?.sockets ?? []), ...(parts.demoSockets?.sockets ?? [])]) socket.close();
  const limit = (ms: number) => (isForced() ? 0 : ms);
  await parts.proxies?.stop(limit(drainMs));
  await Promise.all([parts.control?.stop(limit(CONTROL_STOP_MS)), parts.demo?.stop(limit(DEMO_STOP_MS))]);
  // A start that was under way ends first, so that nothing is left behind.
  const opened = await parts.databaseStarting?.catch(() => null);
  await opened?.stop();
  // Without it nothing had been started, and there is nothing to tell.
  if (parts.directory === null) return;
  parts.directory.release();
  log.info('stopped');
}
