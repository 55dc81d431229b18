/**
 * The child's end of the message channel. A child that loses its supervisor must drain and be gone within 5 s, so that
 * the next start finds the port and the spool free: this file makes sure of the second half even when the child hangs.
 */
import type { ChildChannel, DownMessage } from '../channel.ts';

/** A little more than the 5 s in which a child ends by itself. */
const ORPHAN_LIMIT_MS = 5_500;

function isDownMessage(value: unknown): value is DownMessage {
  // Only the supervisor of the same version has the other end; its messages are not checked further.
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** Throws when this process was not started by a supervisor. */
export function connectToSupervisor(): ChildChannel {
  if (process.send === undefined || !process.connected) {
    throw new Error('this command is started by `tollgate start` only');
  }
  // The terminal's Ctrl-C and a signal to the whole group are for the supervisor, which then stops its children.
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
      process.send?.(message, undefined, undefined, () => {
        // The channel broke while the message was queued; `disconnect` says so too.
      });
      return true;
    },
    onDisconnect: (listener) => {
      process.once('disconnect', listener);
    },
  };
}
