/**
 * What one call must have been, at its client and in the log, by its plan and by what was done to the gateway while it
 * ran. Pure.
 */
import type { CallPlan } from '../kill/call-plan.ts';
import type { ClientCall } from '../kill/load.ts';
import type { CountedRow } from '../kill/tally.ts';
import { costOf, countToldTurns, hasAnswer, listSaid, readRowSaid, readSaid } from './usage-said.ts';

/** The row measures from the arrival to the record's end, the client around that; a busy machine lies between. */
const DURATION_SLACK_MS = 10_000;
/** The release before wrote a session down once a second; the rest is for a busy machine. */
const SESSION_LAG_MS = 2_500;
/** RFC 6455 7.4.1. */
const NORMAL_CLOSURE = 1000;
/** Refusals that make no row: nothing is known of the call. */
const WITHOUT_ROW = ['not_ready', 'shutting_down'];

/** A time in which connections may break, because a process was killed, or may be refused; or in which less is kept. */
export interface Disturbance {
  readonly fromMs: number;
  readonly toMs: number;
  /**
   * `rolling`: only what is sent on a kept connection in the instant in which it is closed may be cut. `full disk`: of a
   * call whose process is killed then, no usage need be known, since only begins and endings go into the reserve.
   * `forgetful exit`: release 0.1.0 takes calls on kept connections until its process ends, also when its spool is closed
   * already. What came to it then may have reached the provider, be cut and have no row. Later releases close every
   * connection before the spool.
   */
  readonly kind: 'kill' | 'rolling' | 'forgetful exit' | 'full disk';
  /** The only calls that it may touch; any call of that time when it is not there. */
  readonly callIds?: ReadonlySet<string>;
}

export interface CallFacts {
  readonly plan: CallPlan;
  readonly call: ClientCall;
  /** How often the provider got it. */
  readonly reached: number;
  /** What the provider had written. */
  readonly written: string;
  /** A websocket whose provider got other bytes than its client has sent. */
  readonly wasMisread: boolean;
  readonly row: CountedRow | null;
  readonly disturbance: 'kill' | 'forgetful exit' | 'rolling' | null;
  readonly isOnFullDisk: boolean;
}

export function isDisturbedBy(call: ClientCall, disturbance: Disturbance): boolean {
  if (disturbance.callIds?.has(call.id) === false) return false;
  return call.startedMs <= disturbance.toMs && call.startedMs + call.durationMs >= disturbance.fromMs;
}

/** A call that must have a row. */
export function needsRow(facts: CallFacts): boolean {
  const { call, reached } = facts;
  if (isInForgetfulExit(facts)) return false;
  if (reached > 0) return true;
  return call.ending === 'complete' && !WITHOUT_ROW.includes(call.gatewayError ?? '');
}

/** Bytes that are not the provider's, or not its client's. What the gateway says itself is not compared. */
export function hasWrongBytes({ call, wasMisread }: CallFacts): boolean {
  return wasMisread || (call.gatewayError === null && !call.isRight);
}

/** Closed by the provider in the instant in which it was written to: not to be told from a provider that was reached. */
export function wasIdleClosed({ call, reached }: CallFacts): boolean {
  return reached === 0 && call.gatewayError === 'upstream_unreachable';
}

/** Cut on a kept connection, without having got anywhere: every client of HTTP must reckon with that. */
export function wasRaced({ call, reached, row }: CallFacts): boolean {
  return reached === 0 && row === null && call.ending === 'cut' && call.status === null && call.wasReused;
}

/** Those that are forwarded on new connections go to another node. */
function isInForgetfulExit({ call, disturbance }: CallFacts): boolean {
  return disturbance === 'forgetful exit' && call.wasReused;
}

/** The provider has got it, and the log knows nothing of it. */
export function wasForgotten(facts: CallFacts): boolean {
  return isInForgetfulExit(facts) && facts.reached > 0 && facts.row === null;
}

/** What is wrong at the client; null when it is as it must be. */
export function judgeClient(facts: CallFacts): string | null {
  const { plan, call, disturbance } = facts;
  if (call.ending === 'stuck') return 'no end within a minute';
  if (call.ending === 'aborted') return plan.abort === undefined ? 'aborted without a plan' : null;
  if (disturbance === 'kill' && (call.ending === 'cut' || call.gatewayError !== null)) return null;
  if (wasIdleClosed(facts)) return null;
  if (isInForgetfulExit(facts) && (call.ending === 'cut' || call.gatewayError !== null)) return null;
  if (disturbance === 'rolling' && wasRaced(facts)) return null;
  const got = `${call.ending}, status ${call.status}${call.gatewayError === null ? '' : ` (${call.gatewayError})`}`;
  const must = clientEnding(plan);
  const isAsPlanned =
    call.ending === must.ending && call.status === must.status && (call.gatewayError !== null) === must.isRefusal;
  return isAsPlanned ? null : `${got} at the client instead of ${must.ending}, status ${must.status}`;
}

interface ClientEnding {
  readonly ending: 'complete' | 'cut';
  readonly status: number;
  readonly isRefusal: boolean;
}

function clientEnding({ trouble, session }: CallPlan): ClientEnding {
  const status = session === undefined ? 200 : 101;
  switch (trouble?.kind) {
    case 'reset-before-head':
      return { ending: 'complete', status: 502, isRefusal: true };
    case 'reset':
    case 'cut':
      return { ending: 'cut', status, isRefusal: false };
    case 'error':
      return { ending: 'complete', status: trouble.status, isRefusal: false };
    case 'stall':
    case 'close-idle':
    case undefined:
      return { ending: 'complete', status, isRefusal: false };
  }
}

function plannedOutcome({ trouble, session }: CallPlan): string {
  switch (trouble?.kind) {
    case 'reset-before-head':
      return 'upstream_unreachable';
    case 'reset':
    case 'cut':
      return 'upstream_truncated';
    case 'error':
      return 'upstream_error';
    case 'stall':
    case 'close-idle':
    case undefined:
      return session?.goodbye.side === 'provider' && session.goodbye.code !== NORMAL_CLOSURE
        ? 'upstream_stream_error'
        : 'ok';
  }
}

/** What is wrong with a call's row; null when it says what it must. */
export function judgeRow(facts: CallFacts, row: CountedRow): string | null {
  const { plan, call } = facts;
  if (row.provider !== plan.expected.provider) return `provider ${row.provider}`;
  if (row.traceId !== plan.expected.traceId) return `trace id ${row.traceId}`;
  const allowed = allowedOutcomes(facts);
  if (!allowed.includes(row.outcome)) return `outcome ${row.outcome} instead of ${allowed.join(' or ')}`;
  return judgeTimes(call, row) ?? judgeStatus(plan, row) ?? judgeUsage(facts, row);
}

function allowedOutcomes(facts: CallFacts): string[] {
  const { plan, call, disturbance, reached } = facts;
  if (wasIdleClosed(facts)) return ['upstream_unreachable'];
  const planned = plannedOutcome(plan);
  if (call.ending === 'complete' && call.gatewayError !== null && planned !== 'upstream_unreachable')
    return ['rejected', 'shutdown_cut', 'upstream_unreachable'];
  // The end of a killed process's connection looks like that of a session that is over.
  const isSessionInKill = plan.session !== undefined && disturbance === 'kill';
  if (call.ending === 'complete' && !isSessionInKill) return [planned];
  return [
    planned,
    ...(plan.abort === undefined ? [] : ['client_closed']),
    ...(wasServed(facts) || mayBeLeftBetweenTurns(facts) ? ['ok'] : []),
    // As `wasIdleClosed`, but the client had left before it could be told.
    ...(call.ending === 'aborted' && reached === 0 ? ['upstream_unreachable'] : []),
    ...(isInForgetfulExit(facts) ? ['interrupted'] : []),
    // A proxy whose supervisor was killed cuts its calls in good order, or the next kill comes first.
    ...(disturbance === 'kill' ? ['interrupted', 'shutdown_cut', 'client_closed', 'upstream_truncated'] : []),
  ];
}

/** Its client went, and may have had its answer by then, though more was to come and something befell that. */
function wasServed({ plan, call, written }: CallFacts): boolean {
  return call.ending === 'aborted' && plan.trouble !== undefined && hasAnswer(plan, written);
}

/** The client of a session that goes when its last response has ended has had what it asked for. */
function mayBeLeftBetweenTurns({ plan, call }: CallFacts): boolean {
  return plan.session !== undefined && call.ending === 'aborted';
}

function judgeTimes(call: ClientCall, row: CountedRow): string | null {
  if (row.endsBeforeItBegins === true) return 'an answer before its request';
  if (row.durationMs === null) return row.outcome === 'interrupted' ? null : 'no duration';
  const isSane = row.durationMs >= 0 && row.durationMs <= call.durationMs + DURATION_SLACK_MS;
  return isSane ? null : `a duration of ${row.durationMs} ms, at the client ${Math.round(call.durationMs)} ms`;
}

const WITH_STATUS = ['ok', 'upstream_error', 'upstream_truncated', 'upstream_stream_error'];

function judgeStatus(plan: CallPlan, row: CountedRow): string | null {
  const must = clientEnding(plan).status;
  return WITH_STATUS.includes(row.outcome) && row.status !== must ? `status ${row.status} of ${row.outcome}` : null;
}

function judgeUsage(facts: CallFacts, row: CountedRow): string | null {
  const { plan } = facts;
  const said = readRowSaid(plan, row);
  const counts = `${row.inputTokens}/${row.cacheReadTokens}/${row.outputTokens} tokens`;
  if (said === null) return `${counts} that nobody said`;
  const nameOf = (index: number) => listSaid(plan)[index]?.name ?? '?';
  if ((row.outcome === 'client_closed') !== (row.closedBefore !== null)) return `closed before ${row.closedBefore}`;
  const { least, most } = saidBounds(facts, row);
  if (said < least) return `${counts} (${nameOf(said)}), though ${nameOf(least)} was said`;
  if (said > most) return `${counts} (${nameOf(said)}), though only ${nameOf(most)} was said`;
  const cost = costOf(plan, said);
  if ((row.knownCost ?? 0n) !== cost) return `a known cost of ${row.knownCost} instead of ${cost}`;
  if (row.outcome === 'ok' && !wasServed(facts) && row.totalCost !== cost)
    return `a cost of ${row.totalCost} instead of ${cost}`;
  // Where it is not known to be all, no total may be told.
  return row.totalCost === null || row.totalCost === cost ? null : `a cost of ${row.totalCost} instead of ${cost}`;
}

/** Between what the client has seen, which was noted before, and what the provider has written. */
function saidBounds(facts: CallFacts, row: CountedRow): { least: number; most: number } {
  const { plan, call, written, isOnFullDisk } = facts;
  const most = readSaid(plan, written);
  const all = listSaid(plan).length - 1;
  if (row.outcome === 'ok' && (wasServed(facts) || mayBeLeftBetweenTurns(facts)))
    return { least: readSaid(plan, call.partOfBody ?? ''), most };
  if (row.outcome === 'ok' || row.outcome === 'upstream_stream_error') return { least: all, most: all };
  // Closed in good order, everything that was written has come.
  if (row.outcome === 'upstream_truncated' && plan.trouble?.kind === 'cut') return { least: most, most };
  if (plan.trouble?.kind === 'error') return { least: 0, most };
  if (row.outcome === 'interrupted' && isOnFullDisk) return { least: 0, most };
  if (plan.session !== undefined && row.outcome === 'interrupted' && facts.disturbance === 'forgetful exit')
    return { least: readNotedTurns(plan, call), most };
  return { least: readSaid(plan, call.partOfBody ?? ''), most };
}

/** What the client of a session had seen long enough before its end for the release before to have written it down. */
function readNotedTurns(plan: CallPlan, { arrivals = [], startedMs, durationMs }: ClientCall): number {
  const untilMs = startedMs + durationMs - SESSION_LAG_MS;
  return countToldTurns(plan, arrivals.findLast(({ atMs }) => atMs <= untilMs)?.bytes ?? 0);
}
