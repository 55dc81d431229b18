/** Restarts on request, one at a time and numbered; requests during a restart share the next one. */
import type { Logger } from 'pino';
import type { RestartStatus } from '../vocabulary/channel.ts';
import { messageOf } from '../vocabulary/errors.ts';

export interface RollingRestart {
  /** Returns the number of the restart that serves it. */
  readonly request: () => number;
  readonly status: () => RestartStatus;
}

export function createRollingRestart(restart: () => Promise<void>, log: Logger): RollingRestart {
  let requested = 0;
  let finished = 0;
  let problem: string | null = null;
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    while (finished < requested) {
      const round = finished + 1;
      log.info({ restart: round }, 'restarting the processes');
      try {
        await restart();
        problem = null;
        log.info({ restart: round }, 'the processes are restarted');
      } catch (error) {
        problem = messageOf(error);
        log.error({ restart: round, problem }, 'not everything was restarted; what was there goes on');
      }
      finished = round;
    }
    isRunning = false;
  }

  return {
    request: () => {
      const underWay = isRunning ? 1 : 0;
      requested = finished + underWay + 1;
      if (!isRunning) void run(); // It logs its own failures.
      return requested;
    },
    status: () => ({ requested, finished, problem }),
  };
}
