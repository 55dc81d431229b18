/** Where a turn of a websocket belongs, by the client's message that begins it. What it does not say, the handshake has said. */
import { scanTopLevel } from '../../formats/wire/json-top-level.ts';
import type { CallContext } from '../call-context.ts';
import { withoutSecrets } from '../gateway-headers.ts';
import { listRunMembers, readRunMembers } from '../run-members.ts';

/** The call with its agent turn, where its client says that in each message. */
export function inTurnOf(connection: CallContext, message: Buffer): CallContext {
  const { headers } = connection;
  const { agent, agentClient, sent } = headers;
  if (agent === null) return connection;
  const agentTurn = agentClient?.readAgentTurnOfMessage?.(message) ?? null;
  const named = agentTurn === null ? null : withoutSecrets({ ...agent, agentTurn }, sent);
  return named === null ? connection : { ...connection, headers: { ...headers, agent: named } };
}

/** The ids of runs in the message, as in the body of a request over HTTP. */
export function readRunMembersOf(message: Buffer, { key }: CallContext): ReadonlyMap<string, string> | null {
  const sources = key.runsFrom ?? [];
  const wanted = listRunMembers(sources);
  return wanted.length === 0 ? null : readRunMembers(message, scanTopLevel(message, wanted).members, sources);
}
