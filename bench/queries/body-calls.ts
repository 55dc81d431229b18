/** The part of the calls that has bodies, in the formats of five providers, by the way that every call goes: the shipper's. */
import type pg from 'pg';
import { DEMO_MODELS, type DemoModelName } from '../../src/control/demo-log/demo-models.ts';
import { drawCall } from '../../src/control/demo-log/draw-call.ts';
import { makeEntries } from '../../src/control/demo-log/make-entries.ts';
import type { PlannedCall, Turn } from '../../src/control/demo-log/planned-call.ts';
import { DEMO_CLIENTS } from '../../src/control/demo-log/scenario.ts';
import { createSeededRandom, type SeededRandom } from '../../src/control/demo-log/seeded-random.ts';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { namesOf } from '../../src/vocabulary/record-of.ts';
import { fixedPrices } from '../../test/support/fixed-prices.ts';
import { FEATURES, TEAMS } from './plain-calls.ts';
import { writeText } from './texts.ts';

const SEED = 18;
const BATCH_CALLS = 500;
const MODELS = namesOf(DEMO_MODELS);
const [FIRST_MODEL = 'gpt-5.4'] = MODELS;
const CLIENTS = Object.values(DEMO_CLIENTS);

export interface BodySeed {
  readonly calls: number;
  readonly keyId: number;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly onProgress: (calls: number) => void;
}

function conversation(name: DemoModelName, random: SeededRandom): readonly Turn[] {
  const user = (): Turn => ({ role: 'user', text: writeText(random, random.between(1, 12)), image: null });
  // Only this format of the demo data carries a conversation on.
  if (DEMO_MODELS[name].provider !== 'anthropic') return [user()];
  const before = Array.from({ length: random.between(0, 3) }, (): readonly Turn[] => [
    user(),
    { role: 'assistant', text: writeText(random, 2), uses: [] },
  ]);
  return [...before.flat(), user()];
}

function planCall(requestedAtMs: number, number: number, random: SeededRandom): PlannedCall {
  const name = random.pick([FIRST_MODEL, ...MODELS]);
  const tokens = { in: random.between(100, 3_000), cached: random.between(0, 2_000), out: random.between(20, 900) };
  const fails = random.next() < 0.02 ? ({ fails: 'rate_limit' } as const) : {};
  const drawn = drawCall({ model: name, tokens, ...fails }, random);
  const [client = DEMO_CLIENTS.genai] = CLIENTS.slice(random.between(0, CLIENTS.length - 1));
  const isInRun = random.next() < 0.7;
  return {
    requestedAtMs,
    ...drawn,
    client,
    isStreamed: drawn.model.canStream && random.next() < 0.5,
    attempt: 0,
    fails: fails.fails ?? null,
    isLeft: false,
    traceId: isInRun ? `talk-${Math.floor(number / 8)}` : null,
    spanPath: isInRun ? 'agent/talk' : null,
    spanName: isInRun ? 'reply' : null,
    metadata: [
      ['Feature', random.pick([FEATURES[0], ...FEATURES])],
      ['Team', random.pick(['care', ...TEAMS])],
      ['User-Id', `u-${Math.floor(1_000_000 * random.next() ** 2.5)}`],
    ],
    system: random.next() < 0.7 ? writeText(random, 3) : null,
    tools: [],
    turns: conversation(name, random),
    answer: { text: writeText(random, random.between(1, 8)), reasoning: null, uses: [] },
    tokens: drawn.tokens,
  };
}

/** In order of time, evenly. */
export async function shipBodyCalls(pool: pg.Pool, seed: BodySeed): Promise<void> {
  const random = createSeededRandom(SEED);
  const { priceCall } = fixedPrices();
  const context = { accountId: 1, keyId: seed.keyId, node: 'node-1', random, keepsBodies: () => true };
  const session = await openIngestSession(pool);
  try {
    for (let first = 0; first < seed.calls; first += BATCH_CALLS) {
      const count = Math.min(BATCH_CALLS, seed.calls - first);
      const entries = Array.from({ length: count }, (_, index) => {
        const number = first + index;
        const atMs = seed.fromMs + Math.floor(((number + random.next()) * (seed.untilMs - seed.fromMs)) / seed.calls);
        return makeEntries(planCall(atMs, number, random), context);
      }).flat();
      const { items, failed } = buildBatch(entries, { process: 'bench', priceCall, nowMs: seed.untilMs });
      const [failure] = failed;
      if (failure !== undefined) throw new Error('a seeded call has no row', { cause: failure.error });
      await session.ingest(items);
      seed.onProgress(first + count);
    }
  } finally {
    session.close();
  }
}
