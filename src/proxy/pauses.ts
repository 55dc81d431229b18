/** Step: refuses calls of a paused run or key. Costs one comparison while nothing is paused. */
import type { Pause } from '../vocabulary/channel.ts';
import { GatewayError } from '../vocabulary/errors.ts';
import type { CallContext, RequestedModel } from './call-context.ts';
import type { Gateway } from './gateway.ts';
import { placeInRun } from './place-in-run.ts';
import { UNREAD_MODEL } from './read-requested-model.ts';

/** Null while nothing is paused. */
export interface PauseHolder {
  current: ReadonlyMap<string, Pause> | null;
}

/** Whose call it is. */
export interface PauseSubject {
  readonly accountId: number;
  readonly keyId: number;
  readonly traceId: string | null;
}

function nameSubject({ accountId, scope, value }: Pick<Pause, 'accountId' | 'scope' | 'value'>): string {
  return `${accountId} ${scope} ${value}`;
}

function findPause(pauses: ReadonlyMap<string, Pause>, subject: PauseSubject): Pause | undefined {
  const { accountId, keyId, traceId } = subject;
  const ofRun = traceId === null ? undefined : pauses.get(nameSubject({ accountId, scope: 'run', value: traceId }));
  return ofRun ?? pauses.get(nameSubject({ accountId, scope: 'key', value: String(keyId) }));
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
  gateway.pauses.current = pauses.length === 0 ? null : new Map(pauses.map((pause) => [nameSubject(pause), pause]));
  endPausedConnections(gateway);
}

/** Called again and again, since a connection that is passing on a frame does not end at once. */
export function endPausedConnections({ pauses: { current }, openCalls }: Gateway): void {
  if (current === null) return;
  for (const call of openCalls)
    if (call.subject !== undefined && findPause(current, call.subject) !== undefined) call.endKey('paused');
}
