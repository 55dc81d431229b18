/** pi, a small coding agent. It names its session to OpenAI's API alone. */
import type { AgentOfCall, Client, HeaderReader } from './client.ts';
import { readId } from './read-id.ts';

/** Source: pi 1.6.0, captured. */
export const pi: Client = Object.freeze({
  name: 'pi',
  userAgent: /^pi\/\d/,
  readAgent: (header: HeaderReader) => readSession(header('session-id')),
});

/** Has the user agent of OpenAI's SDK; with Anthropic's it is not recognised. Source: pi 0.73.1, captured. */
export const piBefore1: Client = Object.freeze({
  name: 'pi',
  userAgent: /^OpenAI\/JS /,
  isOwn: (header: HeaderReader) => {
    const session = header('session_id');
    return session !== undefined && session === header('x-client-request-id');
  },
  readAgent: (header: HeaderReader) => readSession(header('session_id')),
});

function readSession(value: string | undefined): AgentOfCall | null {
  const session = readId(value);
  return session === null ? null : { session, agents: [], agentTurn: null };
}
