/** pi, a small coding agent. It has the user agent of OpenAI's SDK; with Anthropic's it sends no ids and is not recognised. */
import type { AgentOfCall, Client, HeaderReader } from './client.ts';
import { readId } from './read-id.ts';

export const pi: Client = Object.freeze({
  name: 'pi',
  userAgent: /^OpenAI\/JS /,
  isOwn: (header: HeaderReader) => {
    const session = header('session_id');
    return session !== undefined && session === header('x-client-request-id');
  },
  readAgent,
});

/** Source: pi 0.73.1, captured. */
function readAgent(header: HeaderReader): AgentOfCall | null {
  const session = readId(header('session_id'));
  return session === null ? null : { session, agents: [], agentTurn: null };
}
