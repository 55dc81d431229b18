/** Histograms of how long each step takes, where the operator asks for them. */
import { STEP_BOUNDS_SECONDS, type StepHistogram } from '../vocabulary/channel.ts';

type Step<A extends readonly unknown[], R> = (...args: A) => R;

export class StepTimes {
  readonly #steps = new Map<string, { counts: number[]; seconds: number }>();

  /** Wraps a step; it counts until it returns, throws or settles. */
  timed<A extends readonly unknown[], R>(name: string, step: Step<A, R>): Step<A, R> {
    const times = { counts: new Array<number>(STEP_BOUNDS_SECONDS.length + 1).fill(0), seconds: 0 };
    this.#steps.set(name, times);
    return (...args) => {
      const startedMs = performance.now();
      const note = () => {
        const seconds = (performance.now() - startedMs) / 1_000;
        const place = STEP_BOUNDS_SECONDS.findIndex((bound) => seconds <= bound);
        const index = place === -1 ? STEP_BOUNDS_SECONDS.length : place;
        times.counts[index] = (times.counts[index] ?? 0) + 1;
        times.seconds += seconds;
      };
      try {
        const result = step(...args);
        if (result instanceof Promise) void result.then(note, note);
        else note();
        return result;
      } catch (error) {
        note();
        throw error;
      }
    };
  }

  read(): Readonly<Record<string, StepHistogram>> {
    return Object.fromEntries(
      [...this.#steps].map(([name, { counts, seconds }]) => [name, { counts: [...counts], seconds }]),
    );
  }
}
