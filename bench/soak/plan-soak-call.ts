/**
 * The calls of a soak: those of `bench:kill`, most of them as they are, some with a provider in trouble or a client that
 * breaks off. Pure, from the call's number and the seed.
 */
import { createSeededRandom } from '../../test/proxy/seeded-random.ts';
import {
  type CallPlan,
  type CallShape,
  type ClientAbort,
  chooseShape,
  type ProviderTrouble,
  planCall,
} from '../kill/call-plan.ts';

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
const ABORTS = ['before-head', 'mid-body', 'after-last-byte'] as const;

export function planSoakCall(n: number, seed: number): CallPlan {
  const random = createSeededRandom(seed * 7_368_787 + n);
  const plan = planWith(n, chooseShape(n, seed), random() < SLOW_SHARE ? SLOW_PAUSE_MS : null);
  const drawn = random();
  if (drawn < TROUBLE_SHARE) {
    const trouble = drawTrouble(plan, random);
    return { ...plan, trouble, ...(trouble.kind === 'error' ? { clientBody: trouble.body } : {}) };
  }
  if (drawn < TROUBLE_SHARE + ABORT_SHARE) return { ...plan, abort: drawAbort(plan, random) };
  return plan;
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

function drawTrouble(plan: CallPlan, random: () => number): ProviderTrouble {
  const kind = pick(TROUBLES, random);
  const pieces = Math.floor(random() * (plan.answer(true).length - 1));
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

function drawAbort(plan: CallPlan, random: () => number): ClientAbort {
  const kind = pick(ABORTS, random);
  if (kind === 'before-head') return { kind, afterMs: Math.round(random() * ABORT_WITHIN_MS) };
  if (kind === 'mid-body') return { kind, bytes: 1 + Math.floor(random() * (Buffer.byteLength(plan.clientBody) - 2)) };
  return { kind };
}

function pick<T>(list: readonly [T, ...T[]], random: () => number): T {
  return list[Math.floor(random() * list.length)] ?? list[0];
}
