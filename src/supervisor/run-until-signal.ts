/**
 * Runs a supervisor until a signal. The first signal stops in order and exits with 0; one within the delay ends the
 * delay; a later one stops at once and exits with 1. SIGHUP restarts the processes, except in a terminal, where it
 * means that the terminal is gone.
 */
import { isatty } from 'node:tty';
import type { Logger } from 'pino';
import type { ReadyGateway, Supervisor } from './supervisor.ts';

/** npm and the terminal both pass one Ctrl-C on. */
const SAME_SIGNAL_MS = 250;

/** Rejects when the gateway cannot start; nothing of it runs then. */
export async function runUntilSignal(
  supervisor: Supervisor,
  log: Logger,
  { onReady, onStopping }: { onReady: (gateway: ReadyGateway) => void; onStopping: () => void },
): Promise<void> {
  let signalMs: number | null = null;
  let exitCode = 0;
  const onSignal = (signal: string) => {
    if (signalMs !== null && performance.now() - signalMs < SAME_SIGNAL_MS) return;
    if (signalMs === null) onStopping();
    signalMs = performance.now();
    const { stopped, isForced } = supervisor.stop();
    log.info({ signal }, isForced ? 'stopping at once' : 'stopping');
    if (isForced) exitCode = 1;
    void stopped.then(() => process.exit(exitCode)); // It never rejects.
    // The second of the pair may have waited behind this call.
    signalMs = performance.now();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  // Checked now: it is no terminal any more when it has gone. `nohup` only redirects the input.
  const isInTerminal = isatty(0);
  process.on('SIGHUP', () => (isInTerminal ? onSignal('SIGHUP') : supervisor.restart()));
  // The reader of the output may be gone; the gateway goes on.
  process.stdout.on('error', () => {});
  try {
    onReady(await supervisor.start());
  } catch (error) {
    if (signalMs === null) throw error;
  }
}
