/** `npm run bench:upgrade` in its short form. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeFaults } from '../../bench/upgrade/report.ts';
import { runUpgrade } from '../../bench/upgrade/run-upgrade.ts';
import { type UnpackedRelease, unpackRelease } from '../support/upgrade/unpack-release.ts';

/** Each stop waits for the streams and websockets that are open. */
const LIMIT_MS = 360_000;

let before: UnpackedRelease;

beforeAll(() => {
  before = unpackRelease();
});
afterAll(() => before.remove());

test(
  'two nodes go up, back (one by kill -9) and up again behind a balancer: no call is lost, refused or stored twice',
  async () => {
    const result = await runUpgrade({
      before: before.path,
      seed: 3,
      callsPerSecond: 15,
      up: 'one by one',
      everyMs: 250,
      stopDelaySeconds: 2,
      restMs: 1_000,
      say: () => {},
    });
    expect(result.moves.map(({ node, how, from, to }) => `${node} ${how} ${from} ${to}`)).toEqual([
      'one SIGTERM 0.1.0 0.2.0',
      'two SIGTERM 0.1.0 0.2.0',
      'one SIGTERM 0.2.0 0.1.0',
      'two kill -9 0.2.0 0.1.0',
      'one SIGTERM 0.1.0 0.2.0',
      'two SIGTERM 0.1.0 0.2.0',
    ]);
    expect(describeFaults(result)).toEqual([]);
    expect(result.count.outcomes['ok']).toBeGreaterThan(300);
  },
  LIMIT_MS,
);
