/** Looks at what was stored since the last look, and notes what rules are true of. One node at a time does it. */
import type pg from 'pg';
import { type FirstKeys, readFirstKeys } from '../store/key-rotations.ts';
import { createFactReader, forgetOldFacts } from './brake-facts.ts';
import { forgetOldHits, insertHit, listRecentHits } from './brake-hits.ts';
import { readAllRules, USUAL_RULES } from './brake-rules.ts';
import { createDetector } from './detector.ts';

const FORGET_INTERVAL_MS = 60_000;

export interface CallWatch {
  /** Returns how many calls it looked at, and how many hits it noted. */
  readonly look: () => Promise<{ readonly calls: number; readonly hits: number }>;
}

export interface CallWatchOptions {
  readonly pool: pg.Pool;
  readonly nowMs: () => number;
  readonly log: { error(fields: Readonly<Record<string, unknown>>, message: string): void };
}

/**
 * Make a new one when the watch was somebody else's meanwhile, and when a look has failed: what was read then is not read
 * again, and hits that were not stored count as told. A new one begins with the calls of the last hour, and with what they hit.
 */
export function createCallWatch({ pool, nowMs, log }: CallWatchOptions): CallWatch {
  const reader = createFactReader((seq) => log.error({ seq }, 'calls could not be read for the brakes'));
  const detector = createDetector();
  let lastHitsMs: number | null = null;
  let forgottenMs = Number.NEGATIVE_INFINITY;

  /** What was hit and resumed meanwhile, here or by people. */
  async function readHits(first: FirstKeys): Promise<void> {
    const sinceMs = lastHitsMs;
    const { atMs, hits } = await listRecentHits(pool, sinceMs);
    for (const { value, ...named } of hits) {
      const hit = { ...named, value: named.scope === 'key' ? firstOf(value, first) : value };
      if (hit.resumedMs !== null) detector.beginAnew(hit, hit.resumedMs);
      else if (sinceMs === null) detector.remember(hit, hit.rule, hit.hitMs);
    }
    lastHitsMs = atMs;
  }

  return {
    look: async () => {
      const first = await readFirstKeys(pool);
      await readHits(first);
      if (performance.now() - forgottenMs > FORGET_INTERVAL_MS) {
        await forgetOldFacts(pool);
        await forgetOldHits(pool);
        forgottenMs = performance.now();
      }
      const rules = await readAllRules(pool);
      let calls = 0;
      let noted = 0;
      for (;;) {
        const facts = await reader.next(pool);
        if (facts.length === 0) return { calls, hits: noted };
        calls += facts.length;
        for (const stored of facts) {
          // Halves of a rotation are one key.
          const fact = { ...stored, keyId: first.get(stored.keyId) ?? stored.keyId };
          for (const hit of detector.note(fact, rules.get(fact.accountId) ?? USUAL_RULES, nowMs())) {
            if ((await insertHit(pool, hit)) === 'full') await insertHit(pool, { ...hit, action: 'alarm' });
            noted += 1;
          }
        }
      }
    },
  };
}

function firstOf(keyId: string, first: FirstKeys): string {
  return String(first.get(Number(keyId)) ?? keyId);
}
