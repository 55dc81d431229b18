/**
 * Where agents belong when a session's calls are looked at together. A call names the parent of its agent at most, so that
 * an agent three levels down does not say who is above its parent, and a sub-agent of opencode that is itself a session
 * names its parent and not the root. The other agents' calls tell. Pure.
 */
import { agentPathOf, agentsOf } from '../../vocabulary/agent-path.ts';

export interface AgentPlace {
  readonly session: string;
  /** As in the column `agent_path`. */
  readonly path: string;
}

/** Deeper trees, and circles that a broken client may tell of, end here. */
const MAX_AGENTS = 32;

export class AgentTree {
  readonly #parents = new Map<string, string>();
  /** Of each agent, as a call of it or of one below has it. */
  readonly #sessions = new Map<string, string>();

  add({ session, path }: AgentPlace): void {
    const agents = agentsOf(path);
    for (const [index, agent] of agents.entries()) {
      const parent = agents[index - 1];
      if (parent !== undefined) this.#parents.set(agent, parent);
      this.#sessions.set(agent, session);
    }
  }

  /** Sessions that are known to be sub-agents of others are looked up to their root. */
  place({ session, path }: AgentPlace): AgentPlace {
    const agents = [...agentsOf(path)];
    let root = session;
    while (agents.length > 0 && agents.length < MAX_AGENTS) {
      const [first = ''] = agents;
      const above = this.#parents.get(first) ?? (this.#sessions.has(root) ? root : undefined);
      if (above === undefined || agents.includes(above)) break;
      agents.unshift(above);
      root = this.#sessions.get(above) ?? root;
    }
    return { session: root, path: agentPathOf(agents) };
  }
}
