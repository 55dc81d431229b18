/**
 * What the stand-in for a model says to whom. Each prompt of the lane names its session, the agent that it is for and the
 * person's message, and so do the prompts that agents give their sub-agents: whose call it is, is told by its text alone,
 * whatever ids the program sends beside it.
 */

/** Whose a call is: agents are named `main/left/deep`, and messages of the person are counted from 1. */
export interface Place {
  readonly session: string;
  readonly agent: string;
  readonly message: number;
}

export interface ToolCall {
  readonly name: string;
  /** Of Codex' tools, some stand in one. */
  readonly namespace?: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The tools of one program, as it offers them. */
export interface AgentTools {
  /** Null where the program has no sub-agents. */
  readonly spawn: ((prompt: string) => ToolCall) | null;
  /** Sub-agents start some of their own. */
  readonly isNesting: boolean;
  /** Where a sub-agent that only says a text is asked again. */
  readonly end?: ToolCall;
  /** Where a sub-agent's end is asked for. */
  readonly wait?: (id: string) => ToolCall;
  /** The same where it is asked for any of them, until all have ended. */
  readonly waitForAny?: ToolCall;
  /** Anything that changes nothing. */
  readonly work: ToolCall;
}

/** A text where no tool is called. */
export interface Said {
  readonly calls: readonly ToolCall[];
  /** The answer stops in its middle and does not end. */
  readonly isCut: boolean;
}

/** How far an agent is with one message. */
export interface Progress {
  answers: number;
  /** Of the sub-agents that were started. */
  readonly ids: string[];
  /** The names of those that said how they ended. */
  readonly ended: Set<string>;
}

export const PARALLEL_SESSIONS: readonly string[] = ['A', 'B'];
export const RESUMED_SESSION = 'A';
export const KILLED_SESSION = 'K';

const MARKER = /\[session (\w+), agent ([a-z/]+), message (\d+)\]/g;

export function promptOf({ session, agent, message }: Place): string {
  return `[session ${session}, agent ${agent}, message ${message}] Do your part.`;
}

/** The last that is named is the one who is asked: a sub-agent may have been given all that was said before it. */
export function readPlace(texts: readonly string[]): Place | null {
  const found = [...texts.join('\n').matchAll(MARKER)].at(-1);
  return found === undefined ? null : { session: String(found[1]), agent: String(found[2]), message: Number(found[3]) };
}

/** By session and message: the sub-agents below each agent. */
function childrenOf({ session, agent, message }: Place, { spawn, isNesting }: AgentTools): readonly string[] {
  if (spawn === null) return [];
  if (message > 1) return agent === 'main' ? ['main/late'] : [];
  if (session === KILLED_SESSION) return agent === 'main' ? ['main/left'] : [];
  if (agent === 'main') return ['main/left', 'main/right'];
  return agent === 'main/left' && isNesting ? ['main/left/deep'] : [];
}

/** The agents that a session has to have, by name. */
export function listAgents(session: string, tools: AgentTools): readonly string[] {
  const messages = session === RESUMED_SESSION ? [1, 2] : [1];
  const found = new Set<string>();
  const visit = (place: Place) => {
    found.add(place.agent);
    for (const agent of childrenOf(place, tools)) visit({ ...place, agent });
  };
  for (const message of messages) visit({ session, agent: 'main', message });
  return [...found].sort();
}

/** The agent whose last answer is cut, so that its program is killed meanwhile. */
function isKilledAgent({ session, agent }: Place, tools: AgentTools): boolean {
  return session === KILLED_SESSION && agent === (tools.spawn === null ? 'main' : 'main/left');
}

/** First all sub-agents at once, or a tool; then the wait for each, where the program has to ask; then a text. */
export function say(place: Place, tools: AgentTools, progress: Progress): Said {
  const { spawn, wait, waitForAny, work, end } = tools;
  const children = childrenOf(place, tools);
  const answer = progress.answers;
  progress.answers += 1;
  if (answer === 0) {
    const prompts = children.map((agent) => promptOf({ ...place, agent }));
    return { calls: spawn === null || prompts.length === 0 ? [work] : prompts.map(spawn), isCut: false };
  }
  const id = progress.ids[answer - 1];
  if (wait !== undefined && id !== undefined) return { calls: [wait(id)], isCut: false };
  if (waitForAny !== undefined && progress.ended.size < children.length) return { calls: [waitForAny], isCut: false };
  if (isKilledAgent(place, tools)) return { calls: [], isCut: true };
  return { calls: end === undefined || place.agent === 'main' ? [] : [end], isCut: false };
}
