/**
 * Tells systemd how far the gateway is, where a unit of `Type=notify` started it. Node can send no datagram to a socket
 * of the file system, so systemd's own program does; it ends when systemd has taken the message.
 */
import { execFile } from 'node:child_process';
import type { Logger } from 'pino';

const TELL_LIMIT_MS = 10_000;
/** What a stop needs beside delay and drain: records that are stored, and PostgreSQL. */
const STOP_MARGIN_SECONDS = 25;

export interface SystemdTeller {
  readonly ready: (status: string) => Promise<void>;
  /** systemd waits for this stop as long as it may take, also when its own limit is shorter. */
  readonly stopping: (delaySeconds: number, drainSeconds: number) => Promise<void>;
}

/** Does nothing where no socket is given. It never rejects: a gateway works without. */
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

/** systemd names the process that it started; one whose output goes into its journal, for others to read. */
export function isStartedBySystemd(env: NodeJS.ProcessEnv, pid: number): boolean {
  return env['SYSTEMD_EXEC_PID'] === String(pid);
}
