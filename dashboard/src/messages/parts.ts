/** Makers of the parts of a message, shared by the formats, and what several formats write alike. */
import type {
  CitationsPart,
  MediaKind,
  MediaPart,
  Message,
  Part,
  ReasoningPart,
  RefusalPart,
  Role,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UnknownPart,
} from './conversation.ts';
import { isNothing, parseJson, readField, readText } from './json-reading.ts';

export function textPart(text: string, cacheMark: string | null = null): TextPart {
  return { type: 'text', text, cacheMark };
}

export function reasoningPart(text: string, isHidden = false): ReasoningPart {
  return { type: 'reasoning', text, isHidden, cacheMark: null };
}

export function refusalPart(text: string): RefusalPart {
  return { type: 'refusal', text, cacheMark: null };
}

export function unknownPart(label: string, value: unknown, cacheMark: string | null = null): UnknownPart {
  return { type: 'unknown', label, value, cacheMark };
}

/** Arguments that came as text are parsed; what is not JSON (cut, or free text) stays text. */
export function readArguments(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? null;
  const parsed = parseJson(value);
  return parsed === undefined ? value : parsed;
}

export function toolCallPart(fields: {
  readonly id: string | null;
  readonly name: string | null;
  readonly arguments: unknown;
  readonly isHosted?: boolean;
  readonly cacheMark?: string | null;
}): ToolCallPart {
  const { id, name, isHosted = false, cacheMark = null } = fields;
  return {
    type: 'tool_call',
    id,
    name: name ?? '(no name)',
    arguments: readArguments(fields.arguments),
    isHosted,
    cacheMark,
  };
}

export function toolResultPart(
  fields: Partial<Omit<ToolResultPart, 'type' | 'parts'>>,
  parts: readonly Part[],
): ToolResultPart {
  return { type: 'tool_result', callId: null, name: null, isError: false, cacheMark: null, ...fields, parts };
}

export function mediaPart(kind: MediaKind, fields: Partial<Omit<MediaPart, 'type' | 'kind'>>): MediaPart {
  return {
    type: 'media',
    kind,
    mediaType: null,
    name: null,
    base64: null,
    reference: null,
    transcript: null,
    cacheMark: null,
    ...fields,
  };
}

export function kindOfMedia(mediaType: string | null): MediaKind {
  const kind = mediaType?.split('/')[0];
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file';
}

const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*;base64,/;

/** A data URL becomes its type and content, any other address a reference. */
export function mediaPartOfUrl(
  kind: MediaKind,
  url: string,
  fields: Partial<Pick<MediaPart, 'name' | 'cacheMark'>> = {},
): MediaPart {
  // Only the head is matched: the content may have many megabytes.
  const match = DATA_URL.exec(url.slice(0, 300));
  if (match === null) return mediaPart(kind, { ...fields, reference: url });
  return mediaPart(kind, { ...fields, mediaType: match[1] || null, base64: url.slice(match[0].length) });
}

/** `cache_control: {"type":"ephemeral","ttl":"1h"}` in words. */
export function readCacheMark(value: unknown): string | null {
  const control = readField(value, 'cache_control');
  if (isNothing(control)) return null;
  return [readText(control, 'type') ?? 'set', readText(control, 'ttl')].filter((word) => word !== null).join(', ');
}

/** Citations of a text, from whatever the format calls title and source; none, no part. */
export function citationParts(
  entries: readonly unknown[],
  read: (entry: unknown) => { readonly title: string | null; readonly source: string | null },
): readonly CitationsPart[] {
  const citations = entries.map(read).filter(({ title, source }) => title !== null || source !== null);
  return citations.length === 0 ? [] : [{ type: 'citations', citations, cacheMark: null }];
}

const ROLES: Readonly<Record<string, Role>> = {
  system: 'system',
  developer: 'developer',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  model: 'assistant',
  tool: 'tool',
  function: 'tool',
};

export function requestMessage(role: string | null, parts: readonly Part[], name: string | null = null): Message {
  const known = role !== null && Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
  return {
    role: known ?? 'other',
    name: name ?? (known === undefined ? role : null),
    source: 'request',
    choice: null,
    stopReason: null,
    parts,
  };
}

export function responseMessage(
  parts: readonly Part[],
  fields: Partial<Pick<Message, 'choice' | 'stopReason' | 'role'>> = {},
): Message {
  return { role: 'assistant', name: null, source: 'response', choice: 0, stopReason: null, ...fields, parts };
}
