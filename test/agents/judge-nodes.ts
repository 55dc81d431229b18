/** Whether each agent of a session has a node of its own in the run, below that of the agent that started it. Pure. */
import { MAIN_AGENT } from '../../src/vocabulary/agent-path.ts';
import type { Pair } from './pair-calls.ts';

export interface JudgedNodes {
  readonly wrong: readonly string[];
  /** Calls that are elsewhere. */
  readonly lost: readonly Pair[];
}

const agentOf = ({ call }: Pair) => call.place?.agent ?? '';

/** The main agent's is 1. */
export const depthOf = (pair: Pair): number => agentOf(pair).split('/').length;

const turnOf = ({ row }: Pair) => /^main\/(turn-[^/]+)/.exec(String(row['span_path']))?.[1] ?? null;

/** `opensOutside`: the program names no turn in what opens its connections. */
export function judgeNodes(name: string, pairs: readonly Pair[], opensOutside: boolean): JudgedNodes {
  const pathOf = new Map<string, string>();
  const turns = readTurns(pairs);
  const wrong = judgeTurns(name, turns);
  const lost: Pair[] = [];
  // Parents first; an agent is where its first call is.
  for (const pair of pairs.toSorted((a, b) => depthOf(a) - depthOf(b))) {
    const agent = agentOf(pair);
    const { agent_path: path, span_path: span } = pair.row;
    const known = pathOf.get(agent) ?? String(path);
    pathOf.set(agent, known);
    const parent = pathOf.get(agent.split('/').slice(0, -1).join('/'));
    const own = known.split('/').at(-1) ?? '';
    const isBelow = agent === MAIN_AGENT ? known === MAIN_AGENT : known === `${parent}/${own}`;
    const turn = pair.call.isOpening && opensOutside ? null : (turns.get(pair.call.place?.message ?? 0) ?? null);
    if (path === known && isBelow && span === spanOf(known, turn)) continue;
    lost.push(pair);
    wrong.push(
      `${name}: ${agent} is at ${path} (${span}), its first call at ${known}, the agent above it at ${parent}`,
    );
  }
  const paths = [...pathOf.values()];
  if (new Set(paths).size < paths.length) wrong.push(`${name}: two agents have one path: ${paths.join(' ')}`);
  return { wrong, lost };
}

function spanOf(agentPath: string, turn: string | null): string {
  const [main = '', ...agents] = agentPath.split('/');
  return [main, ...(turn === null ? [] : [turn]), ...agents.map((agent) => `agent-${agent}`)].join('/');
}

/** Of each message of the person, by the first call that it set off. */
function readTurns(pairs: readonly Pair[]): ReadonlyMap<number, string | null> {
  const turns = new Map<number, string | null>();
  for (const pair of pairs) {
    const { place, isOpening } = pair.call;
    if (place !== null && !isOpening && !turns.has(place.message)) turns.set(place.message, turnOf(pair));
  }
  return turns;
}

/** All messages have turns of their own, or none has. */
function judgeTurns(name: string, turns: ReadonlyMap<number, string | null>): string[] {
  const found = [...turns.values()];
  const isRight =
    found.every((turn) => turn === null) || (!found.includes(null) && new Set(found).size === found.length);
  return isRight ? [] : [`${name}: its messages have the turns ${found.join(' ')}`];
}
