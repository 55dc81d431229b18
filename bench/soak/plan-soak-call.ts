/**
 * The calls of a soak: those of `bench:kill`, most of them as they are, some with a provider in trouble or a client that
 * breaks off. Pure, from the call's number and the seed.
 */
import { createSeededRandom } from '../../test/proxy/seeded-random.ts';
import {
  type CallPlan,
  type CallShape,
  type ClientAbort,
  callIdOf,
  chooseShape,
  type ExpectedRow,
  type ProviderTrouble,
  planCall,
  traceIdOf,
} from '../kill/call-plan.ts';
import type { SessionPlan, SessionTurn } from '../kill/session-plan.ts';
import { planSession, REALTIME_MODEL } from './plan-session.ts';

const SESSION_SHARE = 1 / 16;
/** Sessions are few, and each way in which they end must come. */
const SESSION_TROUBLE_SHARE = 0.3;
const SESSION_ABORT_SHARE = 0.2;
const TROUBLE_SHARE = 0.16;
const ABORT_SHARE = 0.12;
const MIN_STALL_MS = 500;
const STALL_SPREAD_MS = 3_500;
/** A stream that dribbles. */
const SLOW_SHARE = 0.03;
const SLOW_PAUSE_MS = 150;
/** An idle connection is closed after this or more; not at once, when a request may already be on its way. */
const MIN_IDLE_MS = 300;
const IDLE_SPREAD_MS = 1_500;
const ABORT_WITHIN_MS = 40;
const ERROR_STATUSES = [429, 500, 529] as const;

const TROUBLES = ['reset-before-head', 'reset', 'cut', 'stall', 'error', 'close-idle'] as const;
const SESSION_TROUBLES = ['reset-before-head', 'reset', 'cut', 'cut', 'stall', 'stall', 'error'] as const;
const ABORTS = ['before-head', 'mid-body', 'after-last-byte'] as const;
const SESSION_ABORTS = ['before-head', 'mid-body', 'mid-body'] as const;

type Kinds<T extends { readonly kind: string }> = readonly [T['kind'], ...T['kind'][]];

export function planSoakCall(n: number, seed: number): CallPlan {
  const random = createSeededRandom(seed * 5_915_587 + n);
  return random() < SESSION_SHARE ? planSessionCall(n, random) : planHttpCall(n, seed);
}

function planHttpCall(n: number, seed: number): CallPlan {
  const random = createSeededRandom(seed * 7_368_787 + n);
  const plan = planWith(n, chooseShape(n, seed), random() < SLOW_SHARE ? SLOW_PAUSE_MS : null);
  const drawn = random();
  if (drawn < TROUBLE_SHARE) return withTrouble(plan, TROUBLES, plan.answer(true).length, random);
  if (drawn >= TROUBLE_SHARE + ABORT_SHARE) return plan;
  return { ...plan, abort: drawAbort(ABORTS, Buffer.byteLength(plan.clientBody), random) };
}

function planSessionCall(n: number, random: () => number): CallPlan {
  const { plan, session } = planWholeSession(n, random);
  const drawn = random();
  if (drawn < SESSION_TROUBLE_SHARE) return withTrouble(plan, SESSION_TROUBLES, session.fromProvider.length, random);
  if (drawn >= SESSION_TROUBLE_SHARE + SESSION_ABORT_SHARE) return plan;
  return { ...plan, abort: drawAbort(SESSION_ABORTS, session.providerBytes.length, random) };
}

/** A session that nobody cuts or leaves. */
export function planWholeSession(
  n: number,
  random: () => number,
): { readonly plan: CallPlan; readonly session: SessionPlan } {
  const session = planSession(n, random);
  const plan: CallPlan = {
    id: callIdOf(n),
    kind: 'realtime',
    session,
    path: `/v1/realtime?model=${REALTIME_MODEL}`,
    requestBody: '',
    answer: () => [],
    contentType: '',
    clientBody: '',
    pauseMs: 1 + Math.floor(random() * 12),
    expected: { provider: 'openai', traceId: traceIdOf(n), ...sumTurns(session.turns) },
  };
  return { plan, session };
}

function sumTurns(turns: readonly SessionTurn[]): Omit<ExpectedRow, 'provider' | 'traceId'> {
  const sum = (read: (turn: SessionTurn) => number) => turns.reduce((total, turn) => total + read(turn), 0);
  return {
    inputTokens: sum(({ inputTokens }) => inputTokens),
    cacheReadTokens: sum(({ cacheReadTokens }) => cacheReadTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    totalCost: turns.reduce((total, { cost }) => total + cost, 0n),
  };
}

function planWith(n: number, shape: CallShape, pauseMs: number | null): CallPlan {
  const plan = planCall(n, pauseMs === null ? shape : { ...shape, pauseMs });
  if (plan.contentType === 'text/event-stream') return plan;
  // In two writes, so that it can be cut between them.
  return {
    ...plan,
    answer: (isUsageAsked) => {
      const [body = ''] = plan.answer(isUsageAsked);
      const half = Math.floor(body.length / 2);
      return [body.slice(0, half), body.slice(half)];
    },
  };
}

function withTrouble(
  plan: CallPlan,
  kinds: Kinds<ProviderTrouble>,
  pieceCount: number,
  random: () => number,
): CallPlan {
  const trouble = drawTrouble(plan, pick(kinds, random), Math.floor(random() * (pieceCount - 1)), random);
  return { ...plan, trouble, ...(trouble.kind === 'error' ? { clientBody: trouble.body } : {}) };
}

function drawTrouble(
  plan: CallPlan,
  kind: ProviderTrouble['kind'],
  pieces: number,
  random: () => number,
): ProviderTrouble {
  switch (kind) {
    case 'reset-before-head':
      return { kind };
    case 'reset':
    case 'cut':
      return { kind, pieces };
    case 'stall':
      return { kind, pieces, ms: Math.round(MIN_STALL_MS + random() * STALL_SPREAD_MS) };
    case 'error':
      return { kind, ...drawError(plan, random) };
    case 'close-idle':
      return { kind, afterMs: Math.round(MIN_IDLE_MS + random() * IDLE_SPREAD_MS) };
  }
}

function drawError(plan: CallPlan, random: () => number): { status: number; body: string } {
  const status = pick(ERROR_STATUSES, random);
  const error = { type: `status_${status}`, message: `Not now — ${plan.id}` };
  const body = plan.expected.provider === 'openai' ? { error } : { type: 'error', error };
  return { status, body: JSON.stringify(body) };
}

function drawAbort(kinds: Kinds<ClientAbort>, bodyBytes: number, random: () => number): ClientAbort {
  const kind = pick(kinds, random);
  if (kind === 'before-head') return { kind, afterMs: Math.round(random() * ABORT_WITHIN_MS) };
  if (kind === 'mid-body') return { kind, bytes: 1 + Math.floor(random() * (bodyBytes - 2)) };
  return { kind };
}

function pick<T>(list: readonly [T, ...T[]], random: () => number): T {
  return list[Math.floor(random() * list.length)] ?? list[0];
}
