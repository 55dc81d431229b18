/**
 * What one call must have been, at its client and in the log, by its plan and by what was done to the gateway while it
 * ran. Pure.
 */
import type { CallPlan } from '../kill/call-plan.ts';
import type { ClientCall } from '../kill/load.ts';
import type { CountedRow } from '../kill/tally.ts';
import { costOf, readRowSaid, readSaid, SAID, type Said } from './usage-said.ts';

/** The row measures from the arrival to the record's end, the client around that; a busy machine lies between. */
const DURATION_SLACK_MS = 10_000;
/** Refusals that make no row: nothing is known of the call. */
const WITHOUT_ROW = ['not_ready', 'shutting_down'];

/** A time in which connections may break, because a process was killed, or may be refused. */
export interface Disturbance {
  readonly fromMs: number;
  readonly toMs: number;
  /** `rolling`: only what is sent on a kept connection in the instant in which it is closed may be cut. */
  readonly kind: 'kill' | 'rolling';
}

export interface CallFacts {
  readonly plan: CallPlan;
  readonly call: ClientCall;
  /** How often the provider got it. */
  readonly reached: number;
  /** What the provider had written. */
  readonly written: string;
  readonly row: CountedRow | null;
  readonly disturbance: Disturbance['kind'] | null;
}

export function isDisturbedBy(call: ClientCall, disturbance: Disturbance): boolean {
  return call.startedMs <= disturbance.toMs && call.startedMs + call.durationMs >= disturbance.fromMs;
}

/** A call that must have a row. */
export function needsRow({ call, reached }: CallFacts): boolean {
  if (reached > 0) return true;
  return call.ending === 'complete' && !WITHOUT_ROW.includes(call.gatewayError ?? '');
}

/** Bytes that are not the provider's. What the gateway says itself is not compared. */
export function hasWrongBytes({ call }: CallFacts): boolean {
  return call.gatewayError === null && !call.isRight;
}

/** Closed by the provider in the instant in which it was written to: not to be told from a provider that was reached. */
export function wasIdleClosed({ call, reached }: CallFacts): boolean {
  return reached === 0 && call.gatewayError === 'upstream_unreachable';
}

/** Cut on a kept connection, without having got anywhere: every client of HTTP must reckon with that. */
export function wasRaced({ call, reached, row }: CallFacts): boolean {
  return reached === 0 && row === null && call.ending === 'cut' && call.status === null && call.wasReused;
}

/** What is wrong at the client; null when it is as it must be. */
export function judgeClient(facts: CallFacts): string | null {
  const { plan, call, disturbance } = facts;
  if (call.ending === 'stuck') return 'no end within a minute';
  if (call.ending === 'aborted') return plan.abort === undefined ? 'aborted without a plan' : null;
  if (disturbance === 'kill' && (call.ending === 'cut' || call.gatewayError !== null)) return null;
  if (wasIdleClosed(facts)) return null;
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

function clientEnding({ trouble }: CallPlan): ClientEnding {
  switch (trouble?.kind) {
    case 'reset-before-head':
      return { ending: 'complete', status: 502, isRefusal: true };
    case 'reset':
    case 'cut':
      return { ending: 'cut', status: 200, isRefusal: false };
    case 'error':
      return { ending: 'complete', status: trouble.status, isRefusal: false };
    case 'stall':
    case 'close-idle':
    case undefined:
      return { ending: 'complete', status: 200, isRefusal: false };
  }
}

function plannedOutcome({ trouble }: CallPlan): string {
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
      return 'ok';
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
  if (call.ending === 'complete') return [planned];
  return [
    planned,
    ...(plan.abort === undefined ? [] : ['client_closed']),
    // The same as `wasIdleClosed`, and the client had left before it could be told.
    ...(call.ending === 'aborted' && reached === 0 ? ['upstream_unreachable'] : []),
    // A proxy whose supervisor was killed cuts its calls in good order, or the next kill comes first.
    ...(disturbance === 'kill' ? ['interrupted', 'shutdown_cut', 'client_closed', 'upstream_truncated'] : []),
  ];
}

function judgeTimes(call: ClientCall, row: CountedRow): string | null {
  if (row.endsBeforeItBegins === true) return 'an answer before its request';
  if (row.durationMs === null) return row.outcome === 'interrupted' ? null : 'no duration';
  const isSane = row.durationMs >= 0 && row.durationMs <= call.durationMs + DURATION_SLACK_MS;
  return isSane ? null : `a duration of ${row.durationMs} ms, at the client ${Math.round(call.durationMs)} ms`;
}

function judgeStatus({ trouble }: CallPlan, row: CountedRow): string | null {
  const must = row.outcome === 'upstream_error' && trouble?.kind === 'error' ? trouble.status : 200;
  const isChecked = row.outcome === 'ok' || row.outcome === 'upstream_error' || row.outcome === 'upstream_truncated';
  return isChecked && row.status !== must ? `status ${row.status} of ${row.outcome}` : null;
}

function judgeUsage(facts: CallFacts, row: CountedRow): string | null {
  const { plan } = facts;
  const said = readRowSaid(plan, row);
  const counts = `${row.inputTokens}/${row.cacheReadTokens}/${row.outputTokens} tokens`;
  if (said === null) return `${counts} that nobody said`;
  const { least, most } = saidBounds(facts, row);
  if (SAID.indexOf(said) < SAID.indexOf(least)) return `${counts} (${said}), though ${least} was said`;
  if (SAID.indexOf(said) > SAID.indexOf(most)) return `${counts} (${said}), though only ${most} was said`;
  const cost = costOf(plan, said);
  if ((row.knownCost ?? 0n) !== cost) return `a known cost of ${row.knownCost} instead of ${cost}`;
  if (row.outcome === 'ok' && row.totalCost !== cost) return `a cost of ${row.totalCost} instead of ${cost}`;
  // Where it is not known to be all, no total may be told.
  return row.totalCost === null || row.totalCost === cost ? null : `a cost of ${row.totalCost} instead of ${cost}`;
}

/** Between what the client has seen, which was noted before, and what the provider has written. */
function saidBounds({ plan, call, written }: CallFacts, row: CountedRow): { least: Said; most: Said } {
  const most = readSaid(plan, written);
  if (row.outcome === 'ok') return { least: 'all', most: 'all' };
  // Closed in good order, everything that was written has come.
  if (row.outcome === 'upstream_truncated' && plan.trouble?.kind === 'cut') return { least: most, most };
  return { least: plan.trouble?.kind === 'error' ? 'nothing' : readSaid(plan, call.partOfBody ?? ''), most };
}
