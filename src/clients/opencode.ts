/** opencode, a coding agent for many providers. */
import type { AgentOfCall, Client, HeaderReader } from './client.ts';
import { readId } from './read-id.ts';

export const opencode: Client = Object.freeze({ name: 'opencode', userAgent: /^opencode\//, readAgent });

/** Source: opencode 1.18.33, captured. A sub-agent is a session of its own that names its parent, not the root. */
function readAgent(header: HeaderReader): AgentOfCall | null {
  const own = readId(header('x-session-id') ?? header('x-session-affinity'));
  if (own === null) return null;
  const parent = readId(header('x-parent-session-id'));
  return parent === null || parent === own
    ? { session: own, agents: [], agentTurn: null }
    : { session: parent, agents: [own], agentTurn: null };
}
