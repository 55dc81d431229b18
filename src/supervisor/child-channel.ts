/** The child's end of the channel. It ends a child that hangs after the loss of its supervisor. */
import type { ChildChannel, DownMessage } from '../vocabulary/channel.ts';

/** Longer than the 5 s in which a child ends by itself. */
const ORPHAN_LIMIT_MS = 5_500;

function isDownMessage(value: unknown): value is DownMessage {
  // The other end is the supervisor of the same version, so messages are not checked further.
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

export function connectToSupervisor(): ChildChannel {
  if (process.send === undefined || !process.connected) {
    throw new Error('this command is started by `tollgate start` only');
  }
  // The supervisor answers a Ctrl-C or a signal to the whole group by stopping its children.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  process.once('disconnect', () => setTimeout(() => process.exit(1), ORPHAN_LIMIT_MS).unref());
  return {
    onMessage: (listener) => {
      process.on('message', (message: unknown) => {
        if (isDownMessage(message)) listener(message);
      });
    },
    send: (message) => {
      if (!process.connected) return false;
      process.send?.(message, undefined, undefined, () => {});
      return true;
    },
    onDisconnect: (listener) => {
      process.once('disconnect', listener);
    },
  };
}
