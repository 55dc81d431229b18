/** A thousand streams that are open at the same time in one proxy process. What they cost: `npm run bench:proxy`. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { planCall } from '../../bench/kill/call-plan.ts';
import { openStage, type Stage } from '../../bench/kill/stage.ts';

const STREAMS = 1_000;
const EVENTS = 20;
const PAUSE_MS = 100;
const ALL_OPEN_LIMIT_MS = 20_000;
const KINDS = ['openai-stream', 'openai-stream-with-usage', 'anthropic-stream'] as const;

/** Lets every stream go on once all of them are open; until then each has sent one event. */
function createGate(count: number) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => {}); // Whoever waits is told.
  let arrived = 0;
  let limit: NodeJS.Timeout | undefined;
  return () => {
    limit ??= setTimeout(() => reject(new Error(`only ${arrived} of ${count} streams are open`)), ALL_OPEN_LIMIT_MS);
    arrived += 1;
    if (arrived === count) {
      clearTimeout(limit);
      resolve();
    }
    return promise;
  };
}

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    seed: 1,
    clients: STREAMS,
    planOf: (n) => planCall(n, { kind: KINDS[n % KINDS.length] ?? 'openai-stream', events: EVENTS, pauseMs: PAUSE_MS }),
    afterFirstPiece: createGate(STREAMS),
  });
});
afterAll(() => stage.close());

it('a thousand open streams lose no byte, and each has its row with its own usage', async () => {
  const sinceMs = Date.now();
  const { tally, faults } = await stage.settle(stage.startCallsAtOnce(), sinceMs);
  expect(faults).toEqual([]);
  expect(tally).toMatchObject({ calls: STREAMS, complete: STREAMS, clientErrors: 0, wrongBytes: 0, rows: STREAMS });
  expect(tally.outcomes).toEqual({ ok: STREAMS });
});
