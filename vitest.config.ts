import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LONG_BROWSER_TESTS, LONG_GATEWAY_TESTS, listPostgresTests } from './test/support/long-tests.ts';
import { LongestFirst } from './test/support/longest-first.ts';
import { ALL_POSTGRES_KINDS } from './test/support/postgres.ts';
import { quickDir } from './test/support/quick-dir.ts';

// `fast` needs no database, socket or browser: the tests beside the code, and test/rules. `parts` starts at most a
// database, or a proxy in its own process. `gateway` starts whole gateways (a database, several processes), and
// `browser` opens the dashboard of one in a real Chromium: those spend much of their time waiting, so that on two cores
// three files at once are quicker than two; more would only be each other's timeouts. All projects run together, the
// long files first, so that the quick ones fill what those leave free.
//
// A test that starts processes, a database or a browser is tried once more when it fails, since a busy machine can
// starve it; the report then says `retry x1`, and what says so often is to be mended. Nothing else is tried twice.
//
// `npm test` leaves out the projects named `long…`, which `npm run test:long` runs: `long` has the files of `gateway`
// that take minutes, `long-browser` those of `browser`; `long-cuts` runs one file of `fast` again and cuts the recorded
// answers at every byte; `long-network` one of `gateway`, and breaks the network instead of the server; `long-postgres`
// runs the tests of the database again on PostgreSQL 15, where it is installed.
const maxWorkers = Math.max(3, Math.floor(availableParallelism() / 2));
const env = { TMPDIR: quickDir(), TEST_POSTGRES: 'embedded' };
const WHOLE = { testTimeout: 180_000, hookTimeout: 180_000, maxWorkers, env, retry: 1 };

/** They measure the memory of their process, or change its settings, and have one of their own. */
const ALONE = [
  'test/proxy/upstream-client.test.ts',
  'test/proxy/upstream-tls.test.ts',
  'src/formats/wire/gathered-bytes.test.ts',
  'src/vocabulary/return-memory.test.ts',
];
const SHORT = { testTimeout: 60_000, hookTimeout: 60_000, maxWorkers, env };
// No module keeps state, so files can share a process: most of a short file is loading what it tests.
const SHARED = { ...SHORT, isolate: false, exclude: ALONE };
const BROWSER = { ...WHOLE, globalSetup: ['test/browser/build-once.ts'] };
const OTHER_POSTGRES = {
  name: 'long-postgres',
  include: [...listPostgresTests()],
  ...WHOLE,
  env: { ...env, TEST_POSTGRES: 'others' },
};

export default defineConfig({
  test: {
    maxWorkers,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'fast',
          include: [
            'src/**/*.test.ts',
            'clients/typescript/src/**/*.test.ts',
            'dashboard/src/**/*.test.ts',
            'test/rules/*.test.ts',
          ],
          ...SHARED,
        },
      },
      { test: { name: 'parts', include: ['test/{database,process,proxy,corpus}/*.test.ts'], ...SHARED, retry: 1 } },
      { test: { name: 'alone', include: ALONE, ...SHORT } },
      {
        test: {
          name: 'gateway',
          include: ['test/gateway/**/*.test.ts'],
          exclude: [...LONG_GATEWAY_TESTS],
          ...WHOLE,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          exclude: [...LONG_BROWSER_TESTS],
          ...BROWSER,
        },
      },
      { test: { name: 'long', include: [...LONG_GATEWAY_TESTS], ...WHOLE } },
      { test: { name: 'long-browser', include: [...LONG_BROWSER_TESTS], ...BROWSER } },
      {
        test: {
          name: 'long-cuts',
          include: ['test/rules/fixture-usage.test.ts'],
          ...SHARED,
          env: { ...env, TEST_CUTS: 'everywhere' },
        },
      },
      {
        test: {
          name: 'long-network',
          include: ['test/gateway/broken-connections.test.ts'],
          ...WHOLE,
          env: { ...env, TEST_BREAKS: 'network' },
        },
      },
      ...(ALL_POSTGRES_KINDS.length > 1 ? [{ test: OTHER_POSTGRES }] : []),
    ],
  },
});
