/** The chunks of a streamed chat completion (or older completion) put together as the answer without streaming. */
import { isNothing, isRecord, readField, readList, readNumber, readText } from './json-reading.ts';
import { inOrder, type StreamEvent } from './stream-events.ts';

interface ToolCallSoFar {
  id: string | null;
  type: string;
  name: string;
  argumentsText: string;
}

interface ChoiceSoFar {
  readonly index: number;
  /** Fields of the message whose pieces are text and simply follow each other: content, refusal, reasoning. */
  readonly texts: Map<string, string>;
  readonly others: Map<string, unknown>;
  readonly toolCalls: Map<number, ToolCallSoFar>;
  /** The older completions have a text instead of a message. */
  text: string | null;
  finishReason: string | null;
}

/** These are said once and not in pieces. */
const WHOLE_FIELDS: readonly string[] = ['role', 'name', 'id', 'type'];

function addToolCall(calls: Map<number, ToolCallSoFar>, piece: unknown): void {
  const index = readNumber(piece, 'index') ?? calls.size;
  const call = calls.get(index) ?? { id: null, type: 'function', name: '', argumentsText: '' };
  const fn = readField(piece, 'function') ?? readField(piece, 'custom');
  call.id = readText(piece, 'id') ?? call.id;
  call.type = readText(piece, 'type') ?? call.type;
  call.name += readText(fn, 'name') ?? '';
  call.argumentsText += readText(fn, 'arguments') ?? readText(fn, 'input') ?? '';
  calls.set(index, call);
}

function addDelta(choice: ChoiceSoFar, delta: unknown): void {
  if (!isRecord(delta)) return;
  for (const [name, value] of Object.entries(delta)) {
    if (name === 'tool_calls') for (const piece of readList(delta, name)) addToolCall(choice.toolCalls, piece);
    else if (typeof value === 'string' && !WHOLE_FIELDS.includes(name))
      choice.texts.set(name, (choice.texts.get(name) ?? '') + value);
    else if (!isNothing(value)) choice.others.set(name, mergeAudio(name, choice.others.get(name), value));
  }
}

/** Audio comes in pieces too: base64 and transcript follow each other. */
function mergeAudio(name: string, before: unknown, piece: unknown): unknown {
  if (name !== 'audio' || !isRecord(before) || !isRecord(piece)) return piece;
  const joined = (field: string) => (readText(before, field) ?? '') + (readText(piece, field) ?? '');
  return { ...before, ...piece, data: joined('data'), transcript: joined('transcript') };
}

function finishChoice(choice: ChoiceSoFar): unknown {
  if (choice.text !== null) return { index: choice.index, text: choice.text, finish_reason: choice.finishReason };
  const toolCalls = inOrder(choice.toolCalls).map(({ id, type, name, argumentsText }) =>
    type === 'custom'
      ? { id, type, custom: { name, input: argumentsText } }
      : { id, type, function: { name, arguments: argumentsText } },
  );
  const message = {
    role: 'assistant',
    content: null,
    // `fromEntries` defines its properties, so that a field named `__proto__` is one.
    ...Object.fromEntries([...choice.others, ...choice.texts]),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  };
  return { index: choice.index, message, finish_reason: choice.finishReason };
}

export function assembleChat(events: readonly StreamEvent[]): unknown {
  const head = new Map<string, unknown>();
  const choices = new Map<number, ChoiceSoFar>();
  for (const { data } of events) {
    if (!isRecord(data)) continue;
    for (const [name, value] of Object.entries(data))
      if (name !== 'choices' && name !== 'obfuscation' && !isNothing(value)) head.set(name, value);
    for (const piece of readList(data, 'choices')) {
      const index = readNumber(piece, 'index') ?? 0;
      const choice = choices.get(index) ?? {
        index,
        texts: new Map(),
        others: new Map(),
        toolCalls: new Map(),
        text: null,
        finishReason: null,
      };
      choices.set(index, choice);
      addDelta(choice, readField(piece, 'delta'));
      const text = readText(piece, 'text');
      if (text !== null) choice.text = (choice.text ?? '') + text;
      choice.finishReason = readText(piece, 'finish_reason') ?? choice.finishReason;
    }
  }
  if (head.has('object'))
    head.set('object', head.get('object') === 'text_completion' ? 'text_completion' : 'chat.completion');
  return { ...Object.fromEntries(head), choices: inOrder(choices).map(finishChoice) };
}
