/** The turns of a session: begun, answered under an id, and ended. Pure. */
import type { ReportedUsage } from '../../vocabulary/token-usage.ts';
import { UNGROUNDED } from './gemini-usage.ts';
import { NOTHING_REPORTED, withFlag } from './reported-usage.ts';
import type { SessionState, Turn, TurnRequest } from './session.ts';

/** Open at once; a later one is known when it ends. */
const MAX_OPEN_TURNS = 64;

export interface TurnKey {
  readonly lane: string | null;
  readonly responseId: string | null;
}

const UNASKED: TurnRequest = Object.freeze({ lane: null, modelRequested: null, flags: [] });

function createTurn(state: SessionState, request: TurnRequest): Turn {
  return {
    number: state.begun + 1,
    lane: request.lane,
    responseId: null,
    modelRequested: request.modelRequested ?? state.modelRequested,
    reported: { ...NOTHING_REPORTED, model: state.reported.model, flags: request.flags },
    running: null,
    grounding: UNGROUNDED,
  };
}

export function beginTurn(state: SessionState, request: TurnRequest): SessionState {
  if (state.open.length >= MAX_OPEN_TURNS) return state;
  return { ...state, begun: state.begun + 1, open: [...state.open, createTurn(state, request)] };
}

/** By the response's id, else the first of the lane that has none. */
export function findTurn({ open }: SessionState, { lane, responseId }: TurnKey): Turn | undefined {
  const named = responseId === null ? undefined : open.find((turn) => turn.responseId === responseId);
  return named ?? open.find((turn) => turn.responseId === null && turn.lane === lane);
}

export function replaceTurn(state: SessionState, turn: Turn): SessionState {
  return { ...state, open: state.open.map((open) => (open.number === turn.number ? turn : open)) };
}

/** The provider has begun to answer; a turn that nobody asked for begins here. */
export function answerTurn(state: SessionState, key: TurnKey): SessionState {
  const found = findTurn(state, key);
  if (found !== undefined) return replaceTurn(state, { ...found, responseId: key.responseId });
  const begun = beginTurn(state, { ...UNASKED, lane: key.lane });
  const last = begun === state ? undefined : begun.open.at(-1);
  return last === undefined ? state : replaceTurn(begun, { ...last, responseId: key.responseId });
}

/** A response whose begin was not seen is a turn as well. */
export function endTurn(
  state: SessionState,
  key: TurnKey,
  report: (before: ReportedUsage) => ReportedUsage,
): SessionState {
  const found = findTurn(state, key);
  const turn = found ?? createTurn(state, { ...UNASKED, lane: key.lane });
  const reported = turn.reported.flags.reduce(withFlag, { ...report(turn.reported), terminal: true });
  const ended: Turn = { ...turn, responseId: key.responseId ?? turn.responseId, reported, running: null };
  return {
    ...state,
    begun: found === undefined ? state.begun + 1 : state.begun,
    open: state.open.filter((open) => open !== found),
    ended: [...state.ended, ended],
  };
}
