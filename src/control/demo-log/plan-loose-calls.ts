/** The calls outside runs over the last two days, mostly successful: questions of the runs, asked by other people. */
import type { DemoFailure } from './demo-failures.ts';
import { drawCall } from './draw-call.ts';
import type { PlannedCall } from './planned-call.ts';
import type { DemoCall, DemoNode, DemoRun } from './scenario.ts';
import type { SeededRandom } from './seeded-random.ts';

const LOOSE_CALLS = 200;
const SPAN_MS = 48 * 3_600_000;
const LATEST_MS = 120_000;
const FAILURE_SHARE = 0.07;
const STREAM_SHARE = 0.45;
const NO_FEATURE_SHARE = 0.1;
/** Metadata keys have no case, and this call spells one differently. */
const SMALL_SPELLING_AT = 17;
const FAILURES = ['rate_limit', 'rate_limit', 'server_error', 'overloaded'] as const satisfies readonly DemoFailure[];

const PEOPLE = [
  'u-amara-okafor',
  'u-jonas-lindqvist',
  'u-mei-tanaka',
  'u-priya-raman',
  'u-lucia-ferrante',
  'u-tomasz-wolny',
  'u-noor-haddad',
  'u-elif-demir',
] as const;

interface Question {
  readonly run: DemoRun;
  readonly call: DemoCall;
}

export function planLooseCalls(runs: readonly DemoRun[], nowMs: number, random: SeededRandom): readonly PlannedCall[] {
  const [first, ...others] = runs.flatMap((run) => run.nodes.flatMap(listCalls).map((call) => ({ run, call })));
  if (first === undefined) throw new Error('demo data: no call stands on its own');
  return Array.from({ length: LOOSE_CALLS }, (_, index) => {
    // Spread evenly, each somewhere in its own share of the time.
    const beforeMs = ((index + random.next()) / LOOSE_CALLS) * (SPAN_MS - LATEST_MS);
    return planCall(random.pick([first, ...others]), index, Math.floor(nowMs - LATEST_MS - beforeMs), random);
  });
}

/** Calls that need no earlier conversation and no text of a step. */
function listCalls(node: DemoNode): readonly DemoCall[] {
  if ('step' in node) return node.nodes.flatMap(listCalls);
  const { ask, say, image, fails, leaves } = node;
  const isWhole = ask !== undefined && say !== undefined && fails === undefined && leaves === undefined;
  return isWhole && image === undefined && !`${ask}${say}`.includes('{item}') ? [node] : [];
}

function planCall({ run, call }: Question, index: number, requestedAtMs: number, random: SeededRandom): PlannedCall {
  const fails = random.next() < FAILURE_SHARE ? random.pick(FAILURES) : null;
  const drawn = drawCall(fails === null ? call : { ...call, fails }, random);
  const fill = (text = '') => text.replaceAll('{n}', String(random.between(1, 100)));
  return {
    requestedAtMs,
    ...drawn,
    client: run.client,
    isStreamed: drawn.model.canStream && random.next() < STREAM_SHARE,
    attempt: 0,
    fails,
    isLeft: false,
    traceId: null,
    spanPath: null,
    spanName: null,
    metadata: describeMetadata(run, index, random),
    system: run.system,
    tools: [],
    turns: [{ role: 'user', text: fill(call.ask), image: null }],
    answer: { text: fill(call.say), reasoning: call.think ?? null, uses: [] },
  };
}

function describeMetadata({ metadata }: DemoRun, index: number, random: SeededRandom): [string, string][] {
  const { Feature = 'search', Team = 'labs' } = metadata;
  const spelling = index === SMALL_SPELLING_AT ? 'feature' : 'Feature';
  const hasFeature = index === SMALL_SPELLING_AT || random.next() >= NO_FEATURE_SHARE;
  return [
    ['Environment', 'demo'],
    ...(hasFeature ? [[spelling, Feature] satisfies [string, string]] : []),
    ['Team', Team],
    ['User-Id', random.pick(PEOPLE)],
  ];
}
