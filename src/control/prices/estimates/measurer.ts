/** Measures bodies in a thread that starts on demand. A task that fails or hangs yields null and a new thread. */
import { Worker } from 'node:worker_threads';
import type { Measured, MeasureTask } from './measure-bodies.ts';

/** Loading takes up to 4 s on a busy machine, counting 5 s. */
const TASK_LIMIT_MS = 30_000;
const IDLE_LIMIT_MS = 60_000;
const MAX_HEAP_MB = 512;

const THREAD = import.meta.url.endsWith('.ts')
  ? new URL('./measure-thread.ts', import.meta.url)
  : new URL('./measure-thread.js', import.meta.url);

export interface Measurer {
  /** One call at a time. Never rejects. */
  readonly measure: (task: MeasureTask) => Promise<Measured | null>;
  readonly isRunning: () => boolean;
  readonly stop: () => Promise<void>;
}

export interface MeasurerLimits {
  readonly taskMs: number;
  readonly idleMs: number;
}

export function createMeasurer(
  { taskMs, idleMs }: MeasurerLimits = { taskMs: TASK_LIMIT_MS, idleMs: IDLE_LIMIT_MS },
): Measurer {
  let worker: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;

  function open(): Worker {
    const made = new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
    // The thread does not keep the process alive; without a listener its error would end it.
    made.unref();
    made.on('error', () => {});
    made.once('exit', () => {
      if (worker === made) worker = null;
    });
    return made;
  }

  async function close(): Promise<void> {
    clearTimeout(idle);
    const closed = worker;
    worker = null;
    await closed?.terminate();
  }

  function ask(thread: Worker, task: MeasureTask): Promise<Measured | null> {
    const { promise, resolve } = Promise.withResolvers<Measured | null>();
    const giveUp = () => resolve(null);
    const limit = setTimeout(giveUp, taskMs);
    const answer = (measured: Measured) => resolve(measured);
    thread.once('message', answer);
    thread.once('error', giveUp);
    thread.once('exit', giveUp);
    thread.postMessage(task);
    return promise.finally(() => {
      clearTimeout(limit);
      thread.off('message', answer);
      thread.off('error', giveUp);
      thread.off('exit', giveUp);
    });
  }

  return {
    measure: async (task) => {
      clearTimeout(idle);
      worker ??= open();
      const measured = await ask(worker, task);
      if (measured === null) await close();
      else {
        idle = setTimeout(() => void close(), idleMs);
        idle.unref();
      }
      return measured;
    },
    isRunning: () => worker !== null,
    stop: close,
  };
}
