/** Byte tests for content in a stream event: reasoning and tool arguments count, empty text does not. */

import type { UsageFormatName } from '../../providers/format-names.ts';
import { createEventTest } from './event-test.ts';

type ContentTest = (eventType: string | null, data: Buffer) => boolean;

const hasChatText = createEventTest(
  String.raw`"(?:content|reasoning_content|reasoning|text|arguments|refusal|data)"\s*:\s*"[^"]`,
  '"tool_calls"',
);
const hasDelta = createEventTest(String.raw`\.delta"`, String.raw`\.partial_image"`);
const hasPicture = createEventTest('"b64_json"');
/** A redacted thought comes whole, in its block's opening event. */
const hasBlockDelta = createEventTest('"content_block_delta"', String.raw`"type"\s*:\s*"redacted_thinking"`);
const hasModelText = createEventTest(
  '"content_block_delta"',
  '"contentBlockDelta"',
  String.raw`"(?:generation|outputText|text|content|reasoning_content|arguments)"\s*:\s*"[^"]`,
);
const hasParts = createEventTest('"parts"');

export const CONTENT_TESTS: Readonly<Record<UsageFormatName, ContentTest>> = Object.freeze({
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
