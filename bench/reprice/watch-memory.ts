/** The memory of one process while something runs: the most it had, and whether it grows from the first half to the second. */
import { readPeakRssKb, readRssKb, resetPeakRss } from '../proxy/process-figures.ts';

const SAMPLE_MS = 500;

export interface Memory {
  readonly startMb: number;
  readonly peakMb: number;
  /** The median of the samples of each half. */
  readonly halvesMb: readonly [number, number];
}

export function watchMemory(pid: number): { readonly stop: () => Memory } {
  resetPeakRss(pid);
  const startMb = readRssKb([pid]) / 1_024;
  const samples: number[] = [];
  const timer = setInterval(() => samples.push(readRssKb([pid]) / 1_024), SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      const middle = Math.floor(samples.length / 2);
      const half = (part: readonly number[]) => [...part].sort((a, b) => a - b)[Math.floor(part.length / 2)] ?? startMb;
      return {
        startMb,
        peakMb: readPeakRssKb(pid) / 1_024,
        halvesMb: [half(samples.slice(0, middle)), half(samples.slice(middle))],
      };
    },
  };
}
