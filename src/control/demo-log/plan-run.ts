/** Turns a run's scenario into calls: walks the tree, lets time pass and continues each step's conversation. */
import { drawCall } from './draw-call.ts';
import type { DemoAnswer, PlannedCall, ToolUse, Turn } from './planned-call.ts';
import type { DemoCall, DemoNode, DemoRun, DemoStep } from './scenario.ts';
import type { SeededRandom } from './seeded-random.ts';

const HOUR_MS = 3_600_000;
const LEAST_PAUSE_MS = 15;
const MOST_PAUSE_MS = 160;
/** The SDK's pause before a retry. */
const RETRY_PAUSE_MS = 900;

interface Place {
  readonly names: readonly string[];
  readonly number: number;
  readonly item: string;
}

interface Talk {
  turns: readonly Turn[];
  uses: readonly ToolUse[];
}

export function planRun(run: DemoRun, nowMs: number, random: SeededRandom, receipt: string): readonly PlannedCall[] {
  const calls: PlannedCall[] = [];

  /** Returns when the node ended, in milliseconds. */
  function walk(node: DemoNode, atMs: number, place: Place, talk: Talk): number {
    if ('model' in node) return walkCall(node, atMs, place, talk);
    const times = node.items?.length ?? node.times ?? 1;
    let beginMs = atMs;
    let endMs = atMs;
    for (let index = 0; index < times; index += 1) {
      // A new group begins when the slowest of the one before has ended.
      if (index % (node.beside ?? 1) === 0) beginMs = endMs + pause();
      endMs = Math.max(endMs, walkStep(node, index, beginMs, place));
    }
    return endMs;
  }

  function walkStep(step: DemoStep, index: number, atMs: number, outer: Place): number {
    const repeats = step.items !== undefined || step.times !== undefined;
    const inner = repeats ? { ...outer, number: index + 1, item: step.items?.[index] ?? outer.item } : outer;
    const place = { ...inner, names: [...outer.names, fill(step.step, inner)] };
    const talk: Talk = { turns: [], uses: [] };
    let endMs = atMs;
    let nextMs = atMs;
    for (const node of step.nodes) {
      const nodeEndMs = walk(node, nextMs + (step.parallel === true ? pause() / 4 : 0), place, talk);
      endMs = Math.max(endMs, nodeEndMs);
      if (step.parallel !== true) nextMs = nodeEndMs + pause();
    }
    return endMs;
  }

  function walkCall(call: DemoCall, atMs: number, place: Place, talk: Talk): number {
    const turns = turnsOf(call, place, talk);
    const failures = call.failsFirst ?? [];
    let nextMs = atMs;
    for (const [attempt, fails] of failures.entries())
      nextMs = addCall({ ...call, fails }, nextMs, place, turns, attempt) + RETRY_PAUSE_MS * 2 ** attempt;
    const endMs = addCall(call, nextMs, place, turns, failures.length);
    if (call.fails === undefined) {
      const { text, uses } = calls.at(-1)?.answer ?? { text: '', uses: [] };
      talk.turns = [...turns, { role: 'assistant', text, uses }];
      talk.uses = uses;
    }
    return endMs;
  }

  function addCall(call: DemoCall, atMs: number, place: Place, turns: readonly Turn[], attempt: number): number {
    const drawn = drawCall(call, random);
    const requestedAtMs = Math.round(atMs);
    calls.push({
      requestedAtMs,
      ...drawn,
      client: run.client,
      isStreamed: call.stream === true,
      attempt,
      fails: call.fails ?? null,
      isLeft: call.leaves === true,
      traceId: run.traceId,
      spanPath: place.names.length === 0 ? null : place.names.map(encodeURIComponent).join('/'),
      spanName: call.call === undefined ? null : fill(call.call, place),
      metadata: Object.entries(run.metadata),
      system: run.system,
      tools: run.tools ?? [],
      turns,
      answer: answerOf(call, place),
    });
    return requestedAtMs + drawn.durationMs;
  }

  function answerOf(call: DemoCall, place: Place): DemoAnswer {
    return {
      text: fill(call.say ?? '', place),
      reasoning: call.think === undefined ? null : fill(call.think, place),
      uses: (call.use ?? []).map(({ tool, input }) => ({
        id: `call_${random.bytes(9).toString('hex')}`,
        name: tool,
        input,
      })),
    };
  }

  function turnsOf(call: DemoCall, place: Place, talk: Talk): readonly Turn[] {
    const results = talk.uses.map((use, index): Turn => {
      return { role: 'tool', use, text: fill(call.results?.[index] ?? 'ok', place) };
    });
    const said: readonly Turn[] =
      call.ask === undefined
        ? []
        : [{ role: 'user', text: fill(call.ask, place), image: call.image === true ? receipt : null }];
    return call.ask === undefined || call.results !== undefined ? [...talk.turns, ...results, ...said] : said;
  }

  function pause(): number {
    return random.between(LEAST_PAUSE_MS, MOST_PAUSE_MS);
  }

  let atMs = nowMs - run.hoursAgo * HOUR_MS;
  const talk: Talk = { turns: [], uses: [] };
  for (const node of run.nodes) atMs = walk(node, atMs, { names: [], number: 1, item: '' }, talk) + pause();
  return calls;
}

function fill(text: string, { number, item }: Place): string {
  return text.replaceAll('{n}', String(number)).replaceAll('{item}', item);
}
