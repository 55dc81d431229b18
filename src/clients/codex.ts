/** Codex, OpenAI's coding agent, in all its forms (`codex exec`, terminal, editor), over HTTP and websockets. */
import { scanTopLevel, type TopLevelMember } from '../formats/wire/json-top-level.ts';
import type { AgentOfCall, Client, HeaderReader } from './client.ts';
import { readId } from './read-id.ts';

/** The header names folders of the user's machine as well; of a longer one nothing is read. */
const MAX_METADATA_CHARS = 16 * 1024;

const TURN_METADATA = 'x-codex-turn-metadata';

export const codex: Client = Object.freeze({
  name: 'codex',
  userAgent: /^codex[_\w-]*\//i,
  readAgent,
  readAgentTurnOfMessage,
});

/**
 * Source: Codex 0.171.0, captured. The session is the main agent's thread, and each sub-agent has a thread of its own. The
 * turn is that of the person's message (`root_turn_id`), which sub-agents share. A handshake before the first message has
 * no turn.
 */
function readAgent(header: HeaderReader): AgentOfCall | null {
  const session = readId(header('session-id'));
  if (session === null) return null;
  const thread = readId(header('thread-id')) ?? session;
  const agents = thread === session ? [] : [thread];
  const parent = agents.length === 0 ? null : readId(header('x-codex-parent-thread-id'));
  if (parent !== null && parent !== session) agents.unshift(parent);
  return { session, agents, agentTurn: readAgentTurn(header(TURN_METADATA)) };
}

/** `client_metadata` of a message has what stands in the header of a request over HTTP, under the header's name. */
function readAgentTurnOfMessage(message: Buffer): string | null {
  const metadata = readObject(message, 'client_metadata');
  if (metadata === null) return null;
  const text = scanTopLevel(metadata, [TURN_METADATA]).members.get(TURN_METADATA)?.scalar;
  return typeof text === 'string' ? readAgentTurn(text) : null;
}

function readObject(json: Buffer, name: string): Buffer | null {
  const member: TopLevelMember | undefined = scanTopLevel(json, [name]).members.get(name);
  return member === undefined || member.valueEnd === null ? null : json.subarray(member.valueStart, member.valueEnd);
}

function readAgentTurn(text: string | undefined): string | null {
  if (text === undefined || text.length > MAX_METADATA_CHARS) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return null;
    const { root_turn_id: root, turn_id: own }: Record<string, unknown> = { ...value };
    return readId(root) ?? readId(own);
  } catch {
    return null;
  }
}
