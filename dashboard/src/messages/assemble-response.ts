/**
 * The bytes of a stored answer as the one message they mean: JSON is parsed, a stream is put together from its events.
 * Total: an answer that cannot be read comes back as what it is, with the reason.
 */
import { createParser } from 'eventsource-parser';
import { assembleChat } from './assemble-chat.ts';
import { assembleConverse } from './assemble-converse.ts';
import { assembleGemini } from './assemble-gemini.ts';
import { assembleMessages } from './assemble-messages.ts';
import { assembleResponses } from './assemble-responses.ts';
import { readAwsEventStream } from './aws-event-stream.ts';
import { decodeBody } from './body-text.ts';
import type { Format, ReportedError } from './conversation.ts';
import { detectFormat } from './detect-format.ts';
import { readJsonArrayItems } from './json-array-items.ts';
import { isRecord, parseJson, readField, readNumber, readText, toList } from './json-reading.ts';
import type { StreamEvent } from './stream-events.ts';

export type Framing = 'empty' | 'json' | 'sse' | 'ndjson' | 'json-array' | 'aws-event-stream' | 'text' | 'binary';

export interface AssembledResponse {
  readonly framing: Framing;
  /** The whole message in the provider's own form; null when the answer has none that can be read. */
  readonly value: unknown;
  /** Events of a stream; 0 for an answer in one piece. */
  readonly events: number;
  readonly error: ReportedError | null;
  readonly problems: readonly string[];
}

const ASSEMBLERS: Readonly<Record<Format, (events: readonly StreamEvent[]) => unknown>> = {
  chat: assembleChat,
  completions: assembleChat,
  responses: assembleResponses,
  messages: assembleMessages,
  'generate-content': assembleGemini,
  converse: assembleConverse,
};

/** An event tells its format where the endpoint does not. */
function detectByEvent(event: StreamEvent | undefined): Format | null {
  const type = readText(event?.data, 'type') ?? event?.name ?? '';
  if (type.startsWith('response.')) return 'responses';
  if (/^(?:message_|content_block_)/.test(type)) return 'messages';
  if (/^(?:messageStart|contentBlock|messageStop)/.test(type)) return 'converse';
  return detectFormat(null, null, event?.data);
}

export function readReportedError(value: unknown): ReportedError | null {
  const [first] = toList(value);
  const error = readField(first ?? value, 'error') ?? readField(readField(value, 'response'), 'error');
  if (typeof error === 'string') return { type: null, message: error };
  if (isRecord(error)) {
    const code = readNumber(error, 'code');
    const type = readText(error, 'type') ?? readText(error, 'status') ?? readText(error, 'code');
    return { type: type ?? (code === null ? null : String(code)), message: readText(error, 'message') };
  }
  if (readText(value, 'type') === 'error')
    return { type: readText(value, 'code'), message: readText(value, 'message') };
  // Bedrock's errors are a message and nothing else; its type is in a header.
  const message = readText(value, 'message') ?? readText(value, 'Message');
  if (message === null || !isRecord(value) || Object.keys(value).length > 2) return null;
  return { type: readText(value, '__type'), message };
}

function readSse(text: string): { readonly events: readonly StreamEvent[]; readonly unreadable: number } {
  const events: StreamEvent[] = [];
  let unreadable = 0;
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (data.trim() === '[DONE]') return;
      const value = parseJson(data);
      if (value === undefined) unreadable += 1;
      else events.push({ name: event ?? null, data: value });
    },
  });
  // A last event without its blank line is given out too: what is there may well be whole.
  parser.feed(`${text}\n\n`);
  return { events, unreadable };
}

function readLines(text: string): { readonly events: readonly StreamEvent[]; readonly unreadable: number } {
  const values = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(parseJson);
  const events = values.filter((data) => data !== undefined).map((data) => ({ name: null, data }));
  return { events, unreadable: values.length - events.length };
}

function assembleEvents(
  framing: Framing,
  format: Format | null,
  events: readonly StreamEvent[],
  problems: readonly string[],
): AssembledResponse {
  const error = events.map(({ data }) => readReportedError(data)).find((found) => found !== null) ?? null;
  const known = format ?? detectByEvent(events.find(({ data }) => isRecord(data)));
  const value = known === null ? events.map(({ data }) => data) : ASSEMBLERS[known](events);
  return { framing, value, events: events.length, error, problems };
}

function describeUnreadable(count: number): readonly string[] {
  if (count === 0) return [];
  return [
    count === 1
      ? 'One event could not be read; it is left out here.'
      : `${count} events could not be read; they are left out here.`,
  ];
}

const INCOMPLETE = 'The body that was kept ends in the middle of an event.';

function assembleText(text: string, contentType: string, format: Format | null): AssembledResponse {
  const none = { value: null, events: 0, error: null, problems: [] };
  const start = text.trimStart();
  if (contentType.includes('event-stream') || /^(?:event|data|id|retry)?:/.test(start)) {
    const { events, unreadable } = readSse(text);
    return assembleEvents('sse', format, events, describeUnreadable(unreadable));
  }
  if (/ndjson|jsonl|json-seq/.test(contentType)) {
    const { events, unreadable } = readLines(text);
    return assembleEvents('ndjson', format, events, describeUnreadable(unreadable));
  }
  const value = parseJson(text);
  if (format === 'generate-content' && start.startsWith('[')) {
    const { items, isWhole } = readJsonArrayItems(text);
    const events = items.map((data) => ({ name: null, data }));
    return assembleEvents('json-array', format, events, isWhole ? [] : [INCOMPLETE]);
  }
  if (value !== undefined) return { ...none, framing: 'json', value, error: readReportedError(value) };
  if (!/^[[{]/.test(start)) return { ...none, framing: 'text' };
  return {
    ...none,
    framing: 'text',
    problems: ['The body is not whole JSON: it was cut, or its middle was not kept.'],
  };
}

interface StoredAnswer {
  /** Content encoding undone. */
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
  readonly endpoint: string | null;
}

export function assembleResponse({ bytes, contentType, endpoint }: StoredAnswer): AssembledResponse {
  const type = (contentType ?? '').toLowerCase();
  const format = detectFormat(endpoint, null, null);
  const none = { value: null, events: 0, error: null, problems: [] };
  if (bytes.length === 0) return { ...none, framing: 'empty' };
  if (type.includes('amazon.eventstream')) {
    const { events, isWhole } = readAwsEventStream(bytes);
    return assembleEvents('aws-event-stream', format, events, isWhole ? [] : [INCOMPLETE]);
  }
  const { text, isExact } = decodeBody(bytes);
  // A text with a few damaged characters is still worth reading; sound or a picture is not.
  if (!isExact && /^(?:audio|image|video)\/|octet-stream|zip|pdf/.test(type)) return { ...none, framing: 'binary' };
  const assembled = assembleText(text, type, format);
  if (isExact) return assembled;
  return { ...assembled, problems: [...assembled.problems, 'Some bytes are not UTF-8; they show as �.'] };
}
