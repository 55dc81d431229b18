/** Request and assembled answer of a call as one conversation; null when they are none (embeddings, files, unknown). */
import { chatReader } from './chat-conversation.ts';
import type {
  Conversation,
  Format,
  FormatReader,
  Message,
  Part,
  ToolCallPart,
  ToolResultPart,
} from './conversation.ts';
import { converseReader } from './converse-conversation.ts';
import { detectFormat } from './detect-format.ts';
import { geminiReader } from './gemini-conversation.ts';
import { formatJson } from './json-reading.ts';
import { messagesReader } from './messages-conversation.ts';
import { responsesReader } from './responses-conversation.ts';

const READERS: Readonly<Record<Format, FormatReader>> = {
  chat: chatReader,
  completions: chatReader,
  responses: responsesReader,
  messages: messagesReader,
  'generate-content': geminiReader,
  converse: converseReader,
};

interface CallBodies {
  readonly endpoint: string | null;
  /** Parsed; null or undefined when it was not kept or is not JSON. */
  readonly request: unknown;
  readonly response: unknown;
}

export function readConversation({ endpoint, request, response }: CallBodies): Conversation | null {
  const format = detectFormat(endpoint, request, response);
  if (format === null) return null;
  const asked = READERS[format].readRequest(request);
  const answered = READERS[format].readResponse(response);
  const messages = [...asked.messages, ...answered.messages];
  if (messages.length === 0) return null;
  return {
    format,
    messages,
    tools: asked.tools,
    responseFormat: asked.responseFormat,
    stopReason: answered.stopReason,
    notes: [...asked.notes, ...answered.notes],
  };
}

export interface ToolMatches {
  readonly resultOf: ReadonlyMap<ToolCallPart, ToolResultPart>;
  readonly callOf: ReadonlyMap<ToolResultPart, ToolCallPart>;
}

function listParts(messages: readonly Message[]): readonly Part[] {
  return messages.flatMap(({ parts }) => parts);
}

/**
 * Which result answers which call: the one with its id; without ids (Gemini) the next of the same name. Ids may come
 * again in a long conversation, so each result takes the first call before it that has none yet.
 */
export function matchToolResults(messages: readonly Message[]): ToolMatches {
  const waiting = new Map<string, ToolCallPart[]>();
  const resultOf = new Map<ToolCallPart, ToolResultPart>();
  const callOf = new Map<ToolResultPart, ToolCallPart>();
  for (const part of listParts(messages)) {
    if (part.type === 'tool_call') {
      const key = part.id === null ? `name ${part.name}` : `id ${part.id}`;
      waiting.set(key, [...(waiting.get(key) ?? []), part]);
    } else if (part.type === 'tool_result') {
      const key = part.callId === null ? `name ${part.name ?? ''}` : `id ${part.callId}`;
      const [call, ...rest] = waiting.get(key) ?? [];
      if (call === undefined) continue;
      waiting.set(key, rest);
      resultOf.set(call, part);
      callOf.set(part, call);
    }
  }
  return { resultOf, callOf };
}

/** How many messages both conversations begin with alike: what a call repeats of the call before it. */
export function countSharedMessages(before: readonly Message[], now: readonly Message[]): number {
  const text = ({ role, parts }: Message) => formatJson([role, parts], 0);
  const most = Math.min(before.length, now.length);
  for (let index = 0; index < most; index += 1) {
    const [a, b] = [before[index], now[index]];
    if (a === undefined || b === undefined || b.source === 'response' || text(a) !== text(b)) return index;
  }
  return most;
}
