/** The begin record of a call. Pure; never a credential. */

import { RUN_BUDGET_ID } from '../budgets/budget.ts';
import type { Claim } from '../budgets/ledger.ts';
import { hideSecretForms } from '../formats/wire/secret-form.ts';
import type { Endpoint } from '../providers/provider.ts';
import { agentPathOf, MAIN_AGENT } from '../vocabulary/agent-path.ts';
import type { BudgetHold, CallBegin } from '../vocabulary/call-record.ts';
import { TOOL_CALL_SOURCE } from '../vocabulary/run-sources.ts';
import type { CallFlag } from '../vocabulary/token-usage.ts';
import { formatFlatUsd } from './budget/flat-usd.ts';
import type { CallContext, RequestedModel } from './call-context.ts';
import { placeInRun } from './place-in-run.ts';
import type { ValidRequest } from './validate-request.ts';

export function describeBegin(
  call: CallContext,
  body: RequestedModel,
  bodyFlags: readonly CallFlag[],
  ordinal: number,
  claims: readonly Claim[] = [],
): CallBegin {
  const { arrival, key, request, headers, route } = call;
  const { endpoint } = route;
  const { agent } = headers;
  const { traceId, spanPath, traceSource } = placeInRun(call, body);
  return {
    id: arrival.id,
    requestedAtMs: arrival.requestedAtMs,
    accountId: key.accountId,
    keyId: key.keyId,
    node: call.node,
    client: headers.client,
    clientAddress: call.clientAddress,
    provider: route.provider.name,
    providerAlias: headers.providerAlias,
    endpoint: endpoint.family,
    billed: endpoint.billed,
    method: request.method,
    path: route.loggedPath,
    modelRequested: readRequestedModel(endpoint, body, request.query),
    streamed: endpoint.streamed === 'body' ? body.streamed : endpoint.streamed,
    isBatch: endpoint.isBatch,
    region: route.region,
    attempt: readClientRetry(request),
    traceId,
    spanPath,
    spanName: headers.spanName,
    metadata: headers.metadata,
    flags: listFlags(call, bodyFlags),
    ordinal,
    ...(call.connectionId === null ? {} : { connectionId: call.connectionId }),
    ...(traceSource === null ? {} : { traceSource }),
    ...(traceId === null && key.runsFrom?.includes(TOOL_CALL_SOURCE) === true ? { isPlacedByToolCalls: true } : {}),
    ...(claims.length === 0 ? {} : { budgets: describeHolds(claims) }),
    ...(agent === null
      ? {}
      : {
          agent: agent.agents.at(-1) ?? MAIN_AGENT,
          agentSession: agent.session,
          agentPath: agentPathOf(agent.agents),
          ...(agent.agentTurn === null ? {} : { agentTurn: agent.agentTurn }),
        }),
  };
}

/** A call mostly holds the same in each budget, and an amount takes long to format. */
function describeHolds(claims: readonly Claim[]): readonly BudgetHold[] {
  let last = claims[0]?.amount ?? 0n;
  let amount = formatFlatUsd(last);
  return claims.map((claim) => {
    if (claim.amount !== last) {
      last = claim.amount;
      amount = formatFlatUsd(last);
    }
    return describeHold(claim, amount);
  });
}

function describeHold({ budgetId, value, periodStartMs, limit }: Claim, amount: string): BudgetHold {
  const hold = { budgetId, value, periodStartMs, amount };
  return budgetId === RUN_BUDGET_ID && limit !== null ? { ...hold, runLimit: formatFlatUsd(limit) } : hold;
}

function listFlags({ arrival, headers, route }: CallContext, bodyFlags: readonly CallFlag[]): CallFlag[] {
  const flags: CallFlag[] = [...headers.flags, ...bodyFlags];
  if (arrival.isClockCorrected) flags.push('clock_skew');
  if (route.isRepaired) flags.push('path_repaired');
  if (headers.spanPath !== null && headers.traceId === null) flags.push('span_without_trace');
  return flags;
}

/** Realtime sessions and WebRTC calls name the model in their query. */
export function readRequestedModel({ model }: Endpoint, body: RequestedModel, query: string): string | null {
  if (model.in === 'path') return hideSecretForms(model.name);
  const inQuery = model.in === 'body' && query !== '' ? new URLSearchParams(query).get('model') : null;
  return body.model ?? (inQuery === null || inQuery === '' ? null : hideSecretForms(inQuery));
}

/** The client's own retry count from 0: `x-stainless-retry-count`, or AWS's `attempt=1; max=3`. */
function readClientRetry(request: ValidRequest): number | null {
  const retries = request.header('x-stainless-retry-count');
  if (retries !== undefined && /^\d{1,4}$/.test(retries)) return Number(retries);
  const attempt = /attempt=(\d{1,4})/.exec(request.header('amz-sdk-request') ?? '')?.[1];
  return attempt === undefined ? null : Number(attempt) - 1;
}
