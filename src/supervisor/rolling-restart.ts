/**
 * Restarts on request, one at a time and numbered. Whoever asks while one is under way gets the next, together with all
 * others who ask meanwhile, so that everything is started after it was asked for. It knows not what is restarted.
 */
import type { Logger } from 'pino';
import type { RestartStatus } from '../channel.ts';

export interface RollingRestart {
  /** Returns the number of the restart that serves this request. */
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
        problem = error instanceof Error ? error.message : String(error);
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
