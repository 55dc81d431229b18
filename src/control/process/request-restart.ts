/** Asks the supervisor to replace this node's processes. Null when it does not answer. */
import type { ChildChannel, RestartStatus } from '../../vocabulary/channel.ts';
import type { StatusReader } from './supervisor-status.ts';

export async function requestRestart(
  channel: Pick<ChildChannel, 'send'>,
  status: StatusReader,
): Promise<RestartStatus | null> {
  channel.send({ type: 'restart-proxies' });
  // The second question on the same channel counts the first.
  return (await status.read())?.restart ?? null;
}
