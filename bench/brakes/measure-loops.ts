/** Stores made loops while the watch runs, and sees when each is found. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createSeededRandom } from '../../src/control/demo-log/seeded-random.ts';
import { LOOP_KINDS, makeLoop } from './make-loop.ts';
import type { BrakeStage } from './stage.ts';

const LIMIT_MS = 10_000;

export interface LoopResult {
  readonly kind: string;
  readonly made: number;
  readonly found: number;
  readonly inTime: number;
  readonly longestMs: number;
}

export async function measureLoops(stage: BrakeStage, loops: number): Promise<readonly LoopResult[]> {
  stage.begin();
  const random = createSeededRandom(20);
  const each = Math.ceil(loops / LOOP_KINDS.length);
  const results: LoopResult[] = [];
  for (const kind of LOOP_KINDS) {
    const calledMs = new Map<string, number>();
    for (let number = 0; number < each; number += 1) {
      const traceId = `${kind}-${number}`;
      const nowMs = Date.now();
      calledMs.set(traceId, nowMs);
      await stage.store(makeLoop(kind, traceId, 1, random, nowMs));
    }
    await sleep(LIMIT_MS);
    const { rows } = await stage.pool.query<{ value: string; hitMs: number }>(
      `select value, floor(extract(epoch from min(hit_at)) * 1000)::int8 as "hitMs" from brake_hits
       where scope = 'run' and rule = $1 group by value`,
      [kind],
    );
    const delays = rows.flatMap(({ value, hitMs }) => {
      const atMs = calledMs.get(value);
      return atMs === undefined ? [] : [hitMs - atMs];
    });
    results.push({
      kind,
      made: each,
      found: delays.length,
      inTime: delays.filter((delayMs) => delayMs <= LIMIT_MS).length,
      longestMs: Math.max(0, ...delays),
    });
  }
  return results;
}
