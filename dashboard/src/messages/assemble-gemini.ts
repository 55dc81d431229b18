/** The pieces of a streamed generateContent as one answer: parts follow each other, of all else the latest counts. */
import { isNothing, isRecord, readField, readList, readNumber, readText, type UnknownRecord } from './json-reading.ts';
import { inOrder, type StreamEvent } from './stream-events.ts';

interface CandidateSoFar {
  fields: UnknownRecord;
  readonly parts: unknown[];
}

/** Pieces of one text become one text; whatever else a part has (a signature) keeps it apart. */
function addPart(parts: unknown[], part: unknown): void {
  const last = parts.at(-1);
  const text = readText(part, 'text');
  const before = readText(last, 'text');
  const isSameKind = readField(last, 'thought') === readField(part, 'thought');
  if (text === null || before === null || !isSameKind || !isRecord(part) || !isRecord(last)) parts.push(part);
  else parts[parts.length - 1] = { ...last, ...part, text: before + text };
}

function known(value: unknown): UnknownRecord {
  return isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([, field]) => !isNothing(field))) : {};
}

export function assembleGemini(events: readonly StreamEvent[]): unknown {
  const candidates = new Map<number, CandidateSoFar>();
  let answer: UnknownRecord = {};
  for (const { data } of events) {
    answer = { ...answer, ...known(data) };
    for (const piece of readList(data, 'candidates')) {
      const index = readNumber(piece, 'index') ?? 0;
      const candidate = candidates.get(index) ?? { fields: {}, parts: [] };
      candidates.set(index, candidate);
      candidate.fields = { ...candidate.fields, ...known(piece) };
      for (const part of readList(readField(piece, 'content'), 'parts')) addPart(candidate.parts, part);
    }
  }
  return {
    ...answer,
    candidates: inOrder(candidates).map(({ fields, parts }) => ({ ...fields, content: { role: 'model', parts } })),
  };
}
