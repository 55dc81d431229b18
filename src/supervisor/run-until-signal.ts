/**
 * A supervisor's life as a process: start, print what `onReady` has to say, stop at a signal, exit. The first signal
 * stops in order and exits with 0; one that comes within the delay before the stop ends the delay; a later one stops at
 * once and exits with 1. SIGHUP restarts the processes, except for
 * a gateway that was started in a terminal: there it means that the terminal is gone.
 */
import { isatty } from 'node:tty';
import type { Logger } from 'pino';
import type { ReadyGateway, Supervisor } from './supervisor.ts';

/** npm and a terminal both pass one Ctrl-C on: the second of a pair is not a second wish, on a busy machine either. */
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
    // Counted from here: the second of the pair may have waited behind what was just begun.
    signalMs = performance.now();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  // Asked now: a terminal that has gone is none any more. Node takes no notice of `nohup`, which redirects the input.
  const isInTerminal = isatty(0);
  process.on('SIGHUP', () => (isInTerminal ? onSignal('SIGHUP') : supervisor.restart()));
  // Whoever read our output may be gone; the gateway goes on.
  process.stdout.on('error', () => {});
  try {
    onReady(await supervisor.start());
  } catch (error) {
    // A start that was cut short by a signal ends with the signal's exit code.
    if (signalMs === null) throw error;
  }
}
