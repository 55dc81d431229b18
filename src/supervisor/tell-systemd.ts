/** Tells systemd about start and stop by its own program: Node cannot send to a datagram socket. */
import { execFile } from 'node:child_process';
import type { Logger } from 'pino';

const TELL_LIMIT_MS = 10_000;
const STOP_MARGIN_SECONDS = 25;

export interface SystemdTeller {
  readonly ready: (status: string) => Promise<void>;
  /** Extends systemd's own limit to the longest that this stop may take. */
  readonly stopping: (delaySeconds: number, drainSeconds: number) => Promise<void>;
}

/** Does nothing without a socket, and never rejects. */
export function createSystemdTeller(
  socket: string | undefined,
  log: Logger,
  program = 'systemd-notify',
): SystemdTeller {
  function tell(messages: readonly string[]): Promise<void> {
    if (socket === undefined || socket === '') return Promise.resolve();
    const env = { ...process.env, NOTIFY_SOCKET: socket };
    return new Promise((resolve) => {
      execFile(program, messages, { env, timeout: TELL_LIMIT_MS }, (error) => {
        if (error !== null) log.warn({ err: error }, 'systemd could not be told how far the gateway is');
        resolve();
      });
    });
  }
  return {
    ready: (status) => tell(['--ready', `--status=${status}`]),
    stopping: (delaySeconds, drainSeconds) => {
      const limit = (delaySeconds + drainSeconds + STOP_MARGIN_SECONDS) * 1_000_000;
      return tell(['--status=stopping', 'STOPPING=1', `EXTEND_TIMEOUT_USEC=${limit}`]);
    },
  };
}

/** systemd names the process that it started; the output of that one goes into the journal. */
export function isStartedBySystemd(env: NodeJS.ProcessEnv, pid: number): boolean {
  return env['SYSTEMD_EXEC_PID'] === String(pid);
}
