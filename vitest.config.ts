import { defineConfig } from 'vitest/config';

// `unit` is pure and quick. `gateway` starts whole gateways (a database, several processes), one file after another,
// so that on a small machine one test's load is not another test's timeout. `browser` opens the dashboard of a whole
// gateway in a real Chromium.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'dashboard/src/**/*.test.ts', 'test/*.test.ts', 'test/proxy/*.test.ts'],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'gateway',
          include: ['test/gateway/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/browser/build-once.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
