import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// `unit` is quick and starts nothing but databases and proxies in process. `gateway` starts whole gateways (a database,
// several processes), and `browser` opens the dashboard of one in a real Chromium: those spend much of their time
// waiting, so that two of their files at once are not slower than one, even on two cores; more would only be each
// other's timeouts.
const WORKERS = Math.max(2, Math.floor(availableParallelism() / 2));
const WHOLE = { testTimeout: 180_000, hookTimeout: 180_000, maxWorkers: 2 };

export default defineConfig({
  test: {
    maxWorkers: WORKERS,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'dashboard/src/**/*.test.ts', 'test/*.test.ts', 'test/proxy/*.test.ts'],
          testTimeout: 60_000,
          maxWorkers: WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'gateway',
          include: ['test/gateway/**/*.test.ts'],
          ...WHOLE,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/browser/build-once.ts'],
          ...WHOLE,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
