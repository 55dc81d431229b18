/** The calls of an upgrade: JSON, streams, some of them of many seconds, and websockets, none of which goes wrong. Pure. */
import { createSeededRandom } from '../../test/proxy/seeded-random.ts';
import { type CallPlan, chooseShape, planCall } from '../kill/call-plan.ts';
import { planWholeSession } from '../soak/plan-soak-call.ts';

const SESSION_SHARE = 1 / 12;
/** Streams that are open while a node goes. */
const LONG_SHARE = 1 / 8;
const LONG_PAUSE_MS = 400;
/** RFC 6455 7.4.1. */
const NORMAL_CLOSURE = 1000;

export function planUpgradeCall(n: number, seed: number): CallPlan {
  const random = createSeededRandom(seed * 4_256_233 + n);
  if (random() < SESSION_SHARE) return planGoodSession(n, random);
  const shape = chooseShape(n, seed);
  const isLong = random() < LONG_SHARE && !shape.kind.endsWith('-json');
  return planCall(n, isLong ? { ...shape, pauseMs: LONG_PAUSE_MS } : shape);
}

/**
 * What becomes of one that its provider ends with an error, the release before says otherwise; and a machine that has too
 * much to do may not unpack the end of a compressed one in time, in either release.
 */
function planGoodSession(n: number, random: () => number): CallPlan {
  for (;;) {
    const { plan, session } = planWholeSession(n, random);
    if (session.goodbye.code === NORMAL_CLOSURE && session.extensions === null) return plan;
  }
}
