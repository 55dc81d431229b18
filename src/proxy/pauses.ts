/** Step: refuses calls of a paused run or key. Costs one comparison while nothing is paused. */
import type { Pause } from '../vocabulary/channel.ts';
import { GatewayError } from '../vocabulary/errors.ts';
import type { CallContext, RequestedModel } from './call-context.ts';
import type { Gateway } from './gateway.ts';
import { placeInRun } from './place-in-run.ts';
import { UNREAD_MODEL } from './read-requested-model.ts';

/** Of one account, by the value of the run or key. */
type PausesOfAccount = Readonly<Record<Pause['scope'], Map<string, Pause>>>;

/** By account; null while nothing is paused. */
export interface PauseHolder {
  current: ReadonlyMap<number, PausesOfAccount> | null;
}

/** Whose call it is. */
export interface PauseSubject {
  readonly accountId: number;
  readonly keyId: number;
  readonly traceId: string | null;
}

function groupPauses(pauses: readonly Pause[]): ReadonlyMap<number, PausesOfAccount> {
  const grouped = new Map<number, PausesOfAccount>();
  for (const pause of pauses) {
    const ofAccount = grouped.get(pause.accountId) ?? { run: new Map(), key: new Map() };
    grouped.set(pause.accountId, ofAccount);
    ofAccount[pause.scope].set(pause.value, pause);
  }
  return grouped;
}

function findPause(pauses: ReadonlyMap<number, PausesOfAccount>, subject: PauseSubject): Pause | undefined {
  const { accountId, keyId, traceId } = subject;
  const ofAccount = pauses.get(accountId);
  const ofRun = traceId === null ? undefined : ofAccount?.run.get(traceId);
  return ofRun ?? ofAccount?.key.get(String(keyId));
}

export function subjectOf(call: CallContext, requested: RequestedModel): PauseSubject {
  const { accountId, keyId } = call.key;
  return { accountId, keyId, traceId: placeInRun(call, requested).traceId };
}

/** Throws `paused`. `requested` is null where the body is not read, which then names no run either. */
export function refusePaused(call: CallContext, requested: RequestedModel | null, { current }: PauseHolder): void {
  if (current === null) return;
  const pause = findPause(current, subjectOf(call, requested ?? UNREAD_MODEL));
  if (pause === undefined) return;
  const since = new Date(pause.sinceMs).toISOString();
  throw new GatewayError('paused', {
    detail: `pause ${pause.hitId} of this ${pause.scope}, since ${since}: ${pause.reason}`,
  });
}

/** Ends the websockets of what is paused now; calls under way end by themselves. */
export function applyPauses(gateway: Gateway, pauses: readonly Pause[]): void {
  gateway.pauses.current = pauses.length === 0 ? null : groupPauses(pauses);
  endPausedConnections(gateway);
}

/** Called again and again, since a connection that is passing on a frame does not end at once. */
export function endPausedConnections({ pauses: { current }, openCalls }: Gateway): void {
  if (current === null) return;
  for (const call of openCalls)
    if (call.subject !== undefined && findPause(current, call.subject) !== undefined) call.endKey('paused');
}
