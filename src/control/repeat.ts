/** A task that runs again and again with a pause in between, until it is stopped. A failure is reported, not fatal. */

export interface Repeating {
  /** Resolves when a run that had begun is over. */
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
      return running;
    },
  };
}
