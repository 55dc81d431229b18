/**
 * Which run a call belongs to, and where in it: by the gateway's own headers, else by what its key allows. Each header of
 * the client's own wins over what would be read for it. Pure.
 */
import { hasSecretForm } from '../formats/wire/secret-form.ts';
import { agentSpanPath, agentTraceId } from '../vocabulary/agent-path.ts';
import { chainTraceId, isAnswerId } from '../vocabulary/answer-chain.ts';
import { AGENT_SOURCE, CHAIN_SOURCE, HEADER_SOURCE, TOKEN_SOURCE } from '../vocabulary/run-sources.ts';
import type { CallContext, RequestedModel } from './call-context.ts';
import { readRunHeader } from './run-headers.ts';

export interface PlaceInRun {
  readonly traceId: string | null;
  readonly spanPath: string | null;
  /** Null outside runs. */
  readonly traceSource: string | null;
}

/** Longer values are no ids of runs. */
const MAX_RUN_ID_CHARS = 256;
const CONTROL = /\p{Cc}/u;

export function placeInRun(call: CallContext, body: RequestedModel): PlaceInRun {
  const { headers, key, request } = call;
  const { agent, traceId, spanPath } = headers;
  const runsFrom = key.runsFrom ?? [];
  const placed =
    spanPath ??
    (agent !== null && runsFrom.includes(AGENT_SOURCE) ? agentSpanPath(agent.agents, agent.agentTurn) : null);
  if (traceId !== null) {
    const traceSource = key.run?.traceId === traceId ? TOKEN_SOURCE : HEADER_SOURCE;
    return { traceId, spanPath: placed, traceSource };
  }
  for (const source of runsFrom) {
    if (source === AGENT_SOURCE) {
      if (agent === null || headers.client === null) continue;
      return { traceId: agentTraceId(headers.client, agent.session), spanPath: placed, traceSource: source };
    }
    const found =
      source === CHAIN_SOURCE
        ? readChain(call, body)
        : (body.runMembers?.get(source) ?? readRunHeader(source, request.header));
    if (found !== null && isRunId(found, headers.sent)) return { traceId: found, spanPath, traceSource: source };
  }
  return { traceId: null, spanPath, traceSource: null };
}

/** The call's own answer has no id yet, so the run is named after the one before; the shipper knows the first. */
function readChain({ route }: CallContext, body: RequestedModel): string | null {
  const previous = body.runMembers?.get(CHAIN_SOURCE) ?? route.endpoint.fetchedAnswer ?? null;
  return previous !== null && isAnswerId(previous) ? chainTraceId(previous) : null;
}

function isRunId(text: string, sent: readonly string[]): boolean {
  if (text === '' || text.length > MAX_RUN_ID_CHARS || CONTROL.test(text)) return false;
  return !hasSecretForm(text) && !sent.some((secret) => text.includes(secret));
}
