/**
 * Step: reserves the greatest possible cost of the call in every budget that it comes under, or refuses it. Where there
 * are none it is a look into a map.
 */
import { RUN_BUDGET_ID } from '../budgets/budget.ts';
import type { Claim } from '../budgets/ledger.ts';
import { GatewayError } from '../vocabulary/errors.ts';
import type { CallFlag } from '../vocabulary/token-usage.ts';
import { readHeaderTerms } from './asked-terms.ts';
import type { Answered } from './budget/budget-gate.ts';
import { describeExceeded } from './budget/describe-refusal.ts';
import { type Claims, listClaims, type NoRoomFor } from './budget/list-claims.ts';
import type { ProxyBudgets } from './budget/proxy-budgets.ts';
import type { CallContext, RequestedModel } from './call-context.ts';
import type { CallLog } from './call-log.ts';
import { readRequestedModel } from './describe-begin.ts';
import type { Gateway } from './gateway.ts';
import { placeInRun } from './place-in-run.ts';
import type { Outbound } from './prepare-body.ts';
import { UNREAD_MODEL } from './read-requested-model.ts';
import type { ReceivedBody } from './receive-body.ts';

/** Null: there is nothing to wait for. Rejects with `budget_…` and `bodies_busy`. */
export function reserve(
  log: CallLog,
  call: CallContext,
  outbound: Outbound,
  received: ReceivedBody,
  { budgets }: Pick<Gateway, 'budgets'>,
): Promise<void> | null {
  if (budgets === null || !mayComeUnder(budgets, call)) return null;
  const { requested } = outbound;
  const unread = received.kind === 'none' ? 'none' : 'unread';
  const body = received.kind === 'held' && requested !== null ? received.bytes : unread;
  return reserveFor(log, call, requested ?? UNREAD_MODEL, body, budgets, readMissingRoom(outbound, received));
}

function readMissingRoom({ requested, flags }: Outbound, received: ReceivedBody): NoRoomFor {
  if (received.kind === 'streamed') return received.why === 'no-room' ? 'body' : null;
  // The body was read, so only its copy can have been in the way of asking.
  return requested !== null && flags.includes('usage_not_asked') ? 'copy' : null;
}

export function mayComeUnder({ gate }: ProxyBudgets, { key, headers }: CallContext): boolean {
  return gate.of(key.accountId).length > 0 || key.allowRunBudget === true || headers.runBudget !== null;
}

/** Null: there is nothing to wait for. Throws and rejects with `budget_…` and `bodies_busy`. */
export function reserveFor(
  log: CallLog,
  call: CallContext,
  requested: RequestedModel,
  body: Buffer | 'none' | 'unread',
  budgets: ProxyBudgets,
  noRoomFor: NoRoomFor = null,
): Promise<void> | null {
  const reserving = reserveIn(call, requested, body, budgets, noRoomFor);
  const hold = ({ claims, flags }: Reserved) => {
    if (claims.length > 0) log.hold(claims, flags);
  };
  if (reserving instanceof Promise) return reserving.then(hold);
  hold(reserving);
  return null;
}

/** At once where this process has the money. For a websocket's turn `body` is its message. Throws and rejects with `budget_…`. */
export function reserveIn(
  call: CallContext,
  requested: RequestedModel,
  body: Buffer | 'none' | 'unread',
  budgets: ProxyBudgets,
  noRoomFor: NoRoomFor = null,
): Reserved | Promise<Reserved> {
  const loading = budgets.loadPrices();
  if (loading !== null) return loading.then(() => reserveIn(call, requested, body, budgets, noRoomFor));
  const claims = claimsOf(call, requested, body, budgets, noRoomFor);
  if (claims.claims.length === 0) return NOTHING;
  const answer = budgets.gate.reserve(call.arrival.id, claims.claims);
  return answer instanceof Promise
    ? answer.then((late) => judge(claims, late, budgets))
    : judge(claims, answer, budgets);
}

export interface Reserved {
  readonly claims: readonly Claim[];
  readonly flags: readonly CallFlag[];
}

const NOTHING: Reserved = Object.freeze({ claims: [], flags: [] });

function claimsOf(
  call: CallContext,
  requested: RequestedModel,
  body: Buffer | 'none' | 'unread',
  { gate, costs }: ProxyBudgets,
  noRoomFor: NoRoomFor,
): Claims {
  const { arrival, key, headers, request, route } = call;
  const { traceId } = placeInRun(call, requested);
  if (headers.runBudget !== null && key.allowRunBudget !== true) throw new GatewayError('run_budget_not_allowed');
  if (headers.runBudget !== null && traceId === null) throw new GatewayError('run_budget_without_run');
  const askedByHeaders = readHeaderTerms(call);
  const readGreatest = () =>
    costs.greatestOf(key.accountId, {
      id: arrival.id,
      conversations: `${key.keyId} ${traceId ?? ''}`,
      keyId: key.keyId,
      provider: route.provider.name,
      providerAlias: headers.providerAlias,
      endpoint: route.endpoint,
      region: route.region,
      requestedAtMs: arrival.requestedAtMs,
      modelRequested: readRequestedModel(route.endpoint, requested, request.query),
      contentType: request.header('content-type') ?? null,
      body,
      ...(askedByHeaders === null ? {} : { askedByHeaders }),
      ...(requested.scan === undefined ? {} : { scan: requested.scan }),
    });
  return listClaims(
    gate,
    {
      accountId: key.accountId,
      keyId: key.firstKeyId ?? key.keyId,
      owner: key.owner ?? null,
      traceId,
      metadata: headers.metadata,
    },
    headers.runBudget,
    key.allowRunBudget === true,
    readGreatest,
    noRoomFor,
    route.endpoint.fetchesResult === true,
    arrival.requestedAtMs,
  );
}

function judge({ claims, isUnsure }: Claims, answer: Answered, { gate }: ProxyBudgets): Reserved {
  if (answer === 'unavailable') {
    if (claims.some(({ isHard, onlyCounts }) => isHard && !onlyCounts)) throw new GatewayError('budget_unavailable');
    return { claims: [], flags: [] };
  }
  if (answer.kind === 'refused') {
    const { budgetId } = answer.claim;
    const budget = budgetId === RUN_BUDGET_ID ? null : gate.find(budgetId);
    throw new GatewayError('budget_exceeded', { detail: describeExceeded(budget, answer, gate) });
  }
  const flags: CallFlag[] = [];
  if (answer.isOverSoft) flags.push('over_budget');
  if (isUnsure && answer.held.length > 0) flags.push('budget_unsure');
  return { claims: answer.held, flags };
}
