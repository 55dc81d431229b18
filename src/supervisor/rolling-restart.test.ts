import { expect, test } from 'vitest';
import { createLog } from '../vocabulary/log.ts';
import { createRollingRestart } from './rolling-restart.ts';

const log = createLog({ level: 'error', role: 'test' });

test('what is asked for during a restart is one more restart, for all who ask', async () => {
  const rounds: PromiseWithResolvers<void>[] = [];
  const restarts = createRollingRestart(() => {
    const round = Promise.withResolvers<void>();
    rounds.push(round);
    return round.promise;
  }, log);
  expect(restarts.status()).toEqual({ requested: 0, finished: 0, problem: null });
  expect([restarts.request(), restarts.request(), restarts.request(), rounds.length]).toEqual([1, 2, 2, 1]);
  rounds[0]?.resolve();
  await expect.poll(() => rounds.length).toBe(2);
  expect([restarts.status().finished, restarts.request()]).toEqual([1, 3]);
  rounds[1]?.reject(new Error('no'));
  await expect.poll(() => rounds.length).toBe(3);
  expect(restarts.status()).toEqual({ requested: 3, finished: 2, problem: 'no' });
  rounds[2]?.resolve();
  await expect.poll(() => restarts.status()).toEqual({ requested: 3, finished: 3, problem: null });
});
