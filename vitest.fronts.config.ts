import { defineConfig } from 'vitest/config';
import { quickDir } from './test/support/quick-dir.ts';

// `npm run test:fronts`: the files of deploy/front in nginx, Caddy and HAProxy, as far as they are installed. One file at a
// time: they wait for a minute on purpose, and start two gateways each.
export default defineConfig({
  test: {
    include: ['test/fronts/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    env: { TMPDIR: quickDir() },
  },
});
