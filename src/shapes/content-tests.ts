/**
 * Tells whether an event of a stream carries content, from its bytes alone: what the time to the first token is
 * measured by. An opening event with an empty text does not count; reasoning and tool arguments do.
 */
import { createEventTest } from './event-test.ts';
import type { ShapeName } from './shape.ts';

type ContentTest = (eventType: string | null, data: Buffer) => boolean;

/** Names whose text is content in chat and completions chunks, when it is not empty. */
const hasChatText = createEventTest(
  String.raw`"(?:content|reasoning_content|reasoning|text|arguments|refusal|data)"\s*:\s*"[^"]`,
  '"tool_calls"',
);
const hasDelta = createEventTest(String.raw`\.delta"`, String.raw`\.partial_image"`);
const hasPicture = createEventTest('"b64_json"');
/** A redacted thought comes whole, in the opening event of its block. */
const hasBlockDelta = createEventTest('"content_block_delta"', String.raw`"type"\s*:\s*"redacted_thinking"`);
/** The formats of all model families: their names for a piece of text. */
const hasModelText = createEventTest(
  '"content_block_delta"',
  '"contentBlockDelta"',
  String.raw`"(?:generation|outputText|text|content|reasoning_content|arguments)"\s*:\s*"[^"]`,
);
const hasParts = createEventTest('"parts"');

export const CONTENT_TESTS: Readonly<Record<ShapeName, ContentTest>> = Object.freeze({
  'chat-completions': (_eventType, data) => hasChatText(data),
  responses: (_eventType, data) => hasDelta(data),
  'message-batch': () => true,
  'message-batch-state': () => false,
  messages: (_eventType, data) => hasBlockDelta(data),
  'generate-content': (_eventType, data) => hasParts(data),
  interactions: (_eventType, data) => hasDelta(data),
  'gemini-batch': () => false,
  'gemini-embeddings': () => false,
  imagen: () => false,
  'video-job': () => false,
  'web-search': () => false,
  'web-fetch': () => false,
  converse: (eventType) => eventType === 'contentBlockDelta',
  invoke: (_eventType, data) => hasModelText(data),
  embeddings: () => false,
  batches: () => false,
  images: (_eventType, data) => hasPicture(data),
  transcriptions: (_eventType, data) => hasDelta(data),
  speech: (_eventType, data) => hasDelta(data),
  opaque: () => false,
});
