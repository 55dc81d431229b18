/** A task that runs again and again with a pause in between, until it is stopped. A failure is reported, not fatal. */
import { setTimeout as sleep } from 'node:timers/promises';

/** For a run that had begun: what it waits for may hang. */
const STOP_LIMIT_MS = 500;

export interface Repeating {
  /** Resolves when a run that had begun is over, after half a second at the latest. */
  readonly stop: () => Promise<void>;
}

/** `task` returns the pause in milliseconds before its next run, or null to end. It must not throw. */
export function repeat(task: () => Promise<number | null>): Repeating {
  let isStopped = false;
  let wake = (): void => {};
  async function run(): Promise<void> {
    while (!isStopped) {
      const pauseMs = await task();
      if (pauseMs === null || isStopped) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pauseMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
  const running = run();
  return {
    stop: () => {
      isStopped = true;
      wake();
      return Promise.race([running, sleep(STOP_LIMIT_MS, undefined, { ref: false })]);
    },
  };
}
