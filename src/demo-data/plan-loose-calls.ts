/** The calls outside runs: so many over the last two days, most of them well, some refused by the provider. */
import type { DemoFailure } from './demo-failures.ts';
import { drawCall } from './draw-call.ts';
import type { PlannedCall } from './planned-call.ts';
import type { DemoCall } from './scenario.ts';
import { DEMO_PEOPLE, LOOSE_KINDS, type LooseKind, SMALL_SPELLING } from './scenarios/loose-calls.ts';
import type { SeededRandom } from './seeded-random.ts';

const LOOSE_CALLS = 200;
const SPAN_MS = 48 * 3_600_000;
/** So that even the slowest has ended before now. */
const LATEST_MS = 120_000;
const FAILURE_SHARE = 0.07;
const STREAM_SHARE = 0.45;
/** Bedrock's streams are binary frames, which the formats here do not write. */
const NEVER_STREAMED = 'bedrock';
/** The one call whose metadata is spelled in small letters. */
const SMALL_SPELLING_AT = 17;
const FAILURES: readonly [DemoFailure, ...DemoFailure[]] = ['rate_limit', 'rate_limit', 'server_error', 'overloaded'];

export function planLooseCalls(nowMs: number, random: SeededRandom): readonly PlannedCall[] {
  return Array.from({ length: LOOSE_CALLS }, (_, index) => planCall(index, nowMs, random));
}

function planCall(index: number, nowMs: number, random: SeededRandom): PlannedCall {
  // The small spelling needs a call that has the key at all.
  const kind = index === SMALL_SPELLING_AT ? LOOSE_KINDS[0] : pickKind(random);
  const [ask, say] = random.pick(kind.texts);
  const call: DemoCall = {
    model: kind.model,
    tokens: kind.tokens,
    ...(random.next() < FAILURE_SHARE ? { fails: random.pick(FAILURES) } : {}),
  };
  const drawn = drawCall(call, random);
  const canStream = drawn.model.provider !== NEVER_STREAMED;
  return {
    // Spread evenly, each somewhere in its own share of the time.
    requestedAtMs: Math.floor(nowMs - LATEST_MS - ((index + random.next()) / LOOSE_CALLS) * (SPAN_MS - LATEST_MS)),
    ...drawn,
    client: kind.client,
    isStreamed: canStream && random.next() < STREAM_SHARE,
    attempt: 0,
    fails: call.fails ?? null,
    isLeft: false,
    ...{ traceId: null, spanPath: null, spanName: null },
    metadata: describeMetadata(kind, index, random),
    system: kind.system,
    tools: [],
    turns: [{ role: 'user', text: ask, image: null }],
    answer: { text: say, reasoning: null, uses: [] },
  };
}

function pickKind(random: SeededRandom): LooseKind {
  let left = random.next() * LOOSE_KINDS.reduce((sum, { weight }) => sum + weight, 0);
  for (const kind of LOOSE_KINDS) {
    left -= kind.weight;
    if (left < 0) return kind;
  }
  return LOOSE_KINDS[0];
}

function describeMetadata({ feature, team }: LooseKind, index: number, random: SeededRandom): [string, string][] {
  const featureKey = index === SMALL_SPELLING_AT ? SMALL_SPELLING : 'Feature';
  return [
    ['Environment', 'demo'],
    ...(feature === null ? [] : [[featureKey, feature] satisfies [string, string]]),
    ['Team', team],
    ['User-Id', random.pick(DEMO_PEOPLE)],
  ];
}
