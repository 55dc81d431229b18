/**
 * What was said in a call, whatever the provider's format: messages made of parts, the tools on offer, how it ended. The
 * readers of the formats (`*-conversation.ts`) make it; pages draw it. All of it is text from strangers.
 */

export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool' | 'other';

export type MediaKind = 'image' | 'audio' | 'video' | 'file';

interface PartBase {
  /** How long the prefix up to here is cached, e.g. `ephemeral, 1h`; null without a mark. */
  readonly cacheMark: string | null;
}

export interface TextPart extends PartBase {
  readonly type: 'text';
  readonly text: string;
}

export interface ReasoningPart extends PartBase {
  readonly type: 'reasoning';
  readonly text: string;
  /** The provider sent it encrypted: there is nothing to read. */
  readonly isHidden: boolean;
}

export interface ToolCallPart extends PartBase {
  readonly type: 'tool_call';
  readonly id: string | null;
  readonly name: string;
  readonly arguments: unknown;
  readonly isHosted: boolean;
}

export interface ToolResultPart extends PartBase {
  readonly type: 'tool_result';
  readonly callId: string | null;
  readonly name: string | null;
  readonly isError: boolean;
  readonly parts: readonly Part[];
}

export interface MediaPart extends PartBase {
  readonly type: 'media';
  readonly kind: MediaKind;
  readonly mediaType: string | null;
  readonly name: string | null;
  /** Base64, as it stands in the body; null when the content is elsewhere. */
  readonly base64: string | null;
  /** Where the content is otherwise: an address or the id of a file. Never loaded. */
  readonly reference: string | null;
  readonly transcript: string | null;
}

export interface RefusalPart extends PartBase {
  readonly type: 'refusal';
  readonly text: string;
}

export interface CitationsPart extends PartBase {
  readonly type: 'citations';
  readonly citations: readonly { readonly title: string | null; readonly source: string | null }[];
}

/** Anything else, shown as JSON under its own name. */
export interface UnknownPart extends PartBase {
  readonly type: 'unknown';
  readonly label: string;
  readonly value: unknown;
}

export type Part =
  | TextPart
  | ReasoningPart
  | ToolCallPart
  | ToolResultPart
  | MediaPart
  | RefusalPart
  | CitationsPart
  | UnknownPart;

export interface Message {
  readonly role: Role;
  /** The name that the format lets a speaker have, or the role where it is none of ours. */
  readonly name: string | null;
  readonly source: 'request' | 'response';
  /** Which of several answers it is, from 0; null in a request. */
  readonly choice: number | null;
  readonly stopReason: string | null;
  readonly parts: readonly Part[];
}

export interface OfferedTool {
  readonly name: string;
  readonly description: string | null;
  readonly schema: unknown;
  readonly cacheMark: string | null;
}

export const FORMATS = ['chat', 'completions', 'responses', 'messages', 'generate-content', 'converse'] as const;
export type Format = (typeof FORMATS)[number];

export interface ReportedError {
  readonly type: string | null;
  readonly message: string | null;
}

export interface Conversation {
  readonly format: Format;
  readonly messages: readonly Message[];
  readonly tools: readonly OfferedTool[];
  readonly responseFormat: unknown;
  readonly stopReason: string | null;
  /** Sentences about what is not in the messages, e.g. that the conversation goes on from an earlier answer. */
  readonly notes: readonly string[];
}

export interface RequestReading {
  readonly messages: readonly Message[];
  readonly tools: readonly OfferedTool[];
  readonly responseFormat: unknown;
  readonly notes: readonly string[];
}

export interface ResponseReading {
  readonly messages: readonly Message[];
  readonly stopReason: string | null;
  readonly notes: readonly string[];
}

export interface FormatReader {
  readonly readRequest: (body: unknown) => RequestReading;
  readonly readResponse: (body: unknown) => ResponseReading;
}
