/**
 * Google's live sessions (`BidiGenerateContent`). `usageMetadata` covers one turn, whose prompt is the whole
 * conversation, and every turn is billed. Sources, November 2026: ai.google.dev, Live API reference
 * and best practices; a probe of three turns in pydantic/pydantic-ai#7269.
 */
import type { JsonObject } from '../../vocabulary/token-usage.ts';
import { createEventTest, ERROR_PATTERN } from './event-test.ts';
import { UNGROUNDED } from './gemini-usage.ts';
import { normaliseLive } from './generate-content.ts';
import { mergeGrounding, readGroundingOf } from './grounding.ts';
import { withErrorMember } from './read-error.ts';
import { readCount, readName, readObject } from './read-json.ts';
import { withAdded } from './realtime.ts';
import { withContext } from './reported-usage.ts';
import type { SessionFormat, SessionState, Turn } from './session.ts';
import { beginTurn, endTurn, replaceTurn, type TurnKey } from './session-turns.ts';

const OWN: TurnKey = Object.freeze({ lane: null, responseId: null });

function withCurrent(state: SessionState, change: (turn: Turn) => Turn): SessionState {
  const begun = state.open.length === 0 ? beginTurn(state, { ...OWN, modelRequested: null, flags: [] }) : state;
  const [turn] = begun.open;
  return turn === undefined ? begun : replaceTurn(begun, change(turn));
}

function closeGeneration(turn: Turn): Turn {
  const { running, grounding } = turn;
  const added = { purpose: null, model: null, isTiered: false };
  const reported = withAdded(turn.reported, added, running, (native) => normaliseLive(native, grounding));
  return { ...turn, reported, running: null, grounding: UNGROUNDED };
}

/** Two reports with one prompt before the turn ends are running totals of one generation: the latest counts. */
function readUsage(usage: JsonObject, turn: Turn): Turn {
  const { running } = turn;
  const isSame = running === null || readCount(running, 'promptTokenCount') === readCount(usage, 'promptTokenCount');
  const before = isSame ? turn : closeGeneration(turn);
  const serviceTier = readName(usage, 'serviceTier') ?? readName(usage, 'trafficType');
  return { ...before, running: usage, reported: withContext(before.reported, { serviceTier }) };
}

function readServer(message: JsonObject, state: SessionState): SessionState {
  const content = readObject(message, 'serverContent');
  const usage = readObject(message, 'usageMetadata');
  const isWorking = readObject(content, 'modelTurn') !== null || readObject(message, 'toolCall') !== null;
  const isOfTurn = isWorking || readGroundingOf(content, null) !== UNGROUNDED || usage !== null;
  const read = isOfTurn ? withCurrent(state, (turn) => readTurn(turn, content, usage)) : state;
  const reported = withErrorMember(read.reported, message);
  const seen = reported === read.reported ? read : { ...read, reported };
  return content?.['turnComplete'] === true ? endCurrent(seen) : seen;
}

function readTurn(turn: Turn, content: JsonObject | null, usage: JsonObject | null): Turn {
  const found = readGroundingOf(content, turn.reported.model ?? turn.modelRequested);
  const searched = found === UNGROUNDED ? turn : { ...turn, grounding: mergeGrounding(turn.grounding, found) };
  if (usage === null) {
    // There is more than the last report has counted.
    const { isUsageFinal: _, ...reported } = searched.reported;
    return { ...searched, reported };
  }
  const counted = readUsage(usage, searched);
  return { ...counted, reported: { ...counted.reported, isUsageFinal: true } };
}

function endCurrent(state: SessionState): SessionState {
  return endTurn(state.open.length === 0 ? state : withCurrent(state, closeGeneration), OWN, (reported) => reported);
}

/** `models/gemini-x` → `gemini-x`. */
function readModelRequested(message: JsonObject): string | null {
  return readName(readObject(message, 'setup'), 'model')?.replace(/^models\//, '') ?? null;
}

export const bidiGenerateContent: SessionFormat = {
  name: 'bidi-generate-content',
  billsTurnsAlone: false,
  isSerial: true,
  mayMatter: createEventTest(
    '"usageMetadata"',
    '"turnComplete"',
    '"modelTurn"',
    '"toolCall"',
    '"groundingMetadata"',
    ERROR_PATTERN,
  ),
  hasContent: createEventTest('"modelTurn"', '"outputTranscription"', '"toolCall"'),
  hasMedia: createEventTest('"inlineData"', '"mediaChunks"', '"realtimeInput"\\s*:\\s*\\{\\s*"(?:audio|video)"'),
  asks: createEventTest('"clientContent"', '"toolResponse"', '"activityEnd"', '"audioStreamEnd"', '"text"'),
  readServer,
  readModelRequested,
  finish: (state) => (state.open.length === 0 ? state : withCurrent(state, closeGeneration)),
};
