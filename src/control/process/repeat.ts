/** A task that runs again and again with pauses. A failure is reported, not fatal. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseDown } from '../store/database-error.ts';

/** A run may wait for something that hangs. */
const STOP_LIMIT_MS = 500;

export interface Repeating {
  /** Resolves when a running task has ended, at most half a second later. */
  readonly stop: () => Promise<void>;
}

/** `task` returns the pause in milliseconds, or null to end. It must not throw. */
export function repeat(task: () => Promise<number | null>, firstPauseMs: number | null = null): Repeating {
  let isStopped = false;
  let wake = (): void => {};
  const pause = (pauseMs: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  async function run(): Promise<void> {
    if (firstPauseMs !== null) await pause(firstPauseMs);
    while (!isStopped) {
      const pauseMs = await task();
      if (pauseMs === null || isStopped) return;
      await pause(pauseMs);
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

export interface DatabaseTask {
  readonly pauseMs: number;
  /** The log text of a failure, except a database that is away. */
  readonly failure: string;
  readonly log: { error(fields: Readonly<Record<string, unknown>>, message: string): void };
  /** May resolve to its own pause in milliseconds. */
  readonly run: () => Promise<unknown>;
}

export function repeatOnDatabase({ pauseMs, failure, log, run }: DatabaseTask): Repeating {
  return repeat(async () => {
    try {
      const ownPauseMs = await run();
      return typeof ownPauseMs === 'number' ? ownPauseMs : pauseMs;
    } catch (error) {
      if (!isDatabaseDown(error)) log.error({ err: error }, failure);
      return pauseMs;
    }
  });
}
