/**
 * All records of the demo data for a given moment: the same moment, the same records, to the last id. Pure: nothing is
 * stored here.
 */
import type { SpoolEntry } from '../call-record.ts';
import { type EntryContext, makeEntries } from './make-entries.ts';
import { planLooseCalls } from './plan-loose-calls.ts';
import { planRun } from './plan-run.ts';
import type { PlannedCall } from './planned-call.ts';
import { DEMO_RUNS } from './scenarios/all-runs.ts';
import { createSeededRandom } from './seeded-random.ts';

const SEED = 4_141;

/** A small picture of a receipt, 32 × 40 pixels. */
const RECEIPT_PNG =
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAoCAIAAAAQS2/OAAAAQ0lEQVR42mP4T2PAMGoBJRZo6NgQj0amBaOpaJhaQF5qwaNmNA5G42A0DkbjYDQORuNgNA6GugVEJoRBbMFoJA8ZCwDUZ5bh9la+KQAAAABJRU5ErkJggg==';

export interface DemoContext extends Omit<EntryContext, 'random'> {
  readonly nowMs: number;
  /** False for calls of days that retention has dropped already. */
  readonly keepsCall: (requestedAtMs: number) => boolean;
}

/** In the order of time. */
export function makeDemoEntries(context: DemoContext): readonly SpoolEntry[] {
  const { nowMs } = context;
  const random = createSeededRandom(SEED);
  const planned: readonly PlannedCall[] = [
    ...DEMO_RUNS.flatMap((run) => planRun(run, nowMs, random, RECEIPT_PNG)),
    ...planLooseCalls(nowMs, random),
  ];
  return planned
    .filter(({ requestedAtMs }) => context.keepsCall(requestedAtMs))
    .sort((a, b) => a.requestedAtMs - b.requestedAtMs)
    .flatMap((call) => makeEntries(call, { ...context, random }));
}
