/**
 * The rows of websockets that a release stored which knows no turns: it finds them in the spool when its predecessor was
 * killed, and makes a call of each, apart from the connection. Together they are the websocket. Pure.
 */
import type { CallPlan } from '../kill/call-plan.ts';
import type { ClientCall } from '../kill/load.ts';
import type { CountedRow } from '../kill/tally.ts';
import { type Disturbance, isDisturbedBy } from '../soak/judge-call.ts';

/** What ended so long before the kill may have been in the spool still. */
const SPOOLED_MS = 5_000;

export interface LeftTurns {
  /** In the order in which they came, so that a connection stands before its turns. */
  readonly rows: readonly CountedRow[];
  readonly calls: readonly ClientCall[];
  readonly planOf: (n: number) => CallPlan;
  /** Those after which a release came that knows no turns. */
  readonly kills: readonly Disturbance[];
}

/** One row for each of those websockets, with the sums; all others as they are, also more of one than it can have made. */
export function joinLeftTurns({ rows, calls, planOf, kills }: LeftTurns): readonly CountedRow[] {
  const windows = kills.map((kill) => ({ ...kill, fromMs: kill.fromMs - SPOOLED_MS }));
  const mostRows = new Map(
    calls.flatMap((call) => {
      const { session } = planOf(call.n);
      const wasLeft = session !== undefined && windows.some((one) => isDisturbedBy(call, one));
      return wasLeft ? [[call.id, 1 + session.turns.length] as const] : [];
    }),
  );
  return [...Map.groupBy(rows, ({ callId }) => callId)].flatMap(([id, found]) =>
    found.length > 1 && found.length <= (mostRows.get(id) ?? 0) ? [found.reduce(addTurn)] : found,
  );
}

/**
 * The connection keeps its own ending. That release cannot tell that all usage of a whole connection is in its turns, and
 * gives it no total: here it has that of the turns.
 */
function addTurn(connection: CountedRow, turn: CountedRow): CountedRow {
  const total = connection.totalCost ?? (connection.outcome === 'ok' ? (connection.knownCost ?? 0n) : null);
  return {
    ...connection,
    inputTokens: addKnown(connection.inputTokens, turn.inputTokens),
    cacheReadTokens: addKnown(connection.cacheReadTokens, turn.cacheReadTokens),
    outputTokens: addKnown(connection.outputTokens, turn.outputTokens),
    totalCost: total === null || turn.totalCost === null ? null : total + turn.totalCost,
    knownCost: (connection.knownCost ?? 0n) + (turn.knownCost ?? 0n),
  };
}

function addKnown(left: number | null, right: number | null): number | null {
  return left === null || right === null ? (left ?? right) : left + right;
}
