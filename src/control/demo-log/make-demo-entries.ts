/** All records of the demo data for a moment, reproducible to the last id. Pure. */
import type { SpoolEntry } from '../../vocabulary/call-record.ts';
import { type EntryContext, makeEntries } from './make-entries.ts';
import { planLooseCalls } from './plan-loose-calls.ts';
import { planRun } from './plan-run.ts';
import type { PlannedCall } from './planned-call.ts';
import type { DemoRun } from './scenario.ts';
import { catalogue } from './scenarios/catalogue.ts';
import { codingAgent } from './scenarios/coding-agent.ts';
import { research } from './scenarios/research.ts';
import { support } from './scenarios/support.ts';
import { trip } from './scenarios/trip.ts';
import { createSeededRandom } from './seeded-random.ts';

const SEED = 4_141;

function again(run: DemoRun, traceId: string, hoursAgo: number, userId: string): DemoRun {
  return { ...run, traceId, hoursAgo, metadata: { ...run.metadata, 'User-Id': userId } };
}

const RUNS: readonly DemoRun[] = [
  codingAgent,
  support,
  research,
  trip,
  catalogue,
  again(support, 'demo-support-8119', 2.4, 'u-henrik-moe'),
  again(support, 'demo-support-8097', 22.8, 'u-aoife-byrne'),
  again(support, 'demo-support-8041', 45.4, 'u-kofi-mensah'),
  again(research, 'demo-research-0088', 11.7, 'u-lucia-ferrante'),
  again(research, 'demo-research-0071', 31.2, 'u-sofia-reyes'),
  again(trip, 'demo-trip-danube-16', 1.3, 'u-priya-raman'),
  again(codingAgent, 'demo-session-4b0d12', 3.5, 'u-elif-demir'),
  again(codingAgent, 'demo-session-39ae60', 26.1, 'u-amara-okafor'),
];

/** A receipt, 32 × 40 pixels. */
const RECEIPT_PNG =
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAoCAIAAAAQS2/OAAAAQ0lEQVR42mP4T2PAMGoBJRZo6NgQj0amBaOpaJhaQF5qwaNmNA5G42A0DkbjYDQORuNgNA6GugVEJoRBbMFoJA8ZCwDUZ5bh9la+KQAAAABJRU5ErkJggg==';

export interface DemoContext extends Omit<EntryContext, 'random'> {
  /** Varies numbers and times; the same entries for the same seed. */
  readonly seed?: number;
  readonly nowMs: number;
  /** False for days that retention has dropped. */
  readonly keepsCall: (requestedAtMs: number) => boolean;
}

/** In order of time. */
export function makeDemoEntries(context: DemoContext): readonly SpoolEntry[] {
  const { nowMs } = context;
  const random = createSeededRandom(context.seed ?? SEED);
  const planned: readonly PlannedCall[] = [
    ...RUNS.flatMap((run) => planRun(run, nowMs, random, RECEIPT_PNG)),
    ...planLooseCalls([support, research, trip, catalogue], nowMs, random),
  ];
  return planned
    .filter(({ requestedAtMs }) => context.keepsCall(requestedAtMs))
    .sort((a, b) => a.requestedAtMs - b.requestedAtMs)
    .flatMap((call) => makeEntries(call, { ...context, random }));
}
