/** The path of an agent within its session, as `agent_path` and as a span path. */

/** The agent that a person talks to, and the first name of every path. */
export const MAIN_AGENT = 'main';

/** `agents`: from below the main agent down to the one that calls. Their ids have no slash. */
export function agentPathOf(agents: readonly string[]): string {
  return agents.length === 0 ? MAIN_AGENT : [MAIN_AGENT, ...agents].join('/');
}

/** The sub-agents of an `agent_path`. */
export function agentsOf(agentPath: string): readonly string[] {
  return agentPath.split('/').slice(1);
}

/** `main/turn-…/agent-…/agent-…`: whole ids, since the first halves of those made in the same second are the same. */
export function agentSpanPath(agents: readonly string[], agentTurn: string | null): string {
  const turns = agentTurn === null ? [] : [`turn-${agentTurn}`];
  return [MAIN_AGENT, ...turns, ...agents.map((agent) => `agent-${agent}`)].join('/');
}

/** The run of a session. The client is in it, so that no other program's id is the same. */
export function agentTraceId(client: string, session: string): string {
  return `${client}:${session}`;
}
