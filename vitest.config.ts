import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';
import { quickDir } from './test/quick-dir.ts';

// `unit` is quick and starts nothing but databases and proxies in process. `gateway` starts whole gateways (a database,
// several processes), and `browser` opens the dashboard of one in a real Chromium: those spend much of their time
// waiting, so that on two cores three files at once are quicker than two; more would only be each other's timeouts. All
// projects run together, the long files first, so that the quick ones fill what those leave free.
const maxWorkers = Math.max(3, Math.floor(availableParallelism() / 2));
const env = { TMPDIR: quickDir() };
const WHOLE = { testTimeout: 180_000, hookTimeout: 180_000, maxWorkers, env };

/** They measure the memory of their process, or change its settings, and have one of their own. */
const ALONE = [
  'test/proxy/upstream-client.test.ts',
  'test/proxy/upstream-tls.test.ts',
  'src/wire/gathered-bytes.test.ts',
];
const UNIT = { testTimeout: 60_000, maxWorkers, env };

export default defineConfig({
  test: {
    maxWorkers,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'src/**/*.test.ts',
            'dashboard/src/**/*.test.ts',
            'test/*.test.ts',
            'test/proxy/*.test.ts',
            'test/corpus/*.test.ts',
          ],
          exclude: ALONE,
          // No module keeps state, so files can share a process: most of a short file is loading what it tests.
          isolate: false,
          ...UNIT,
        },
      },
      { test: { name: 'alone', include: ALONE, ...UNIT } },
      {
        test: {
          name: 'gateway',
          include: ['test/gateway/**/*.test.ts'],
          ...WHOLE,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/browser/build-once.ts'],
          ...WHOLE,
        },
      },
    ],
  },
});
