/**
 * Tells whether an event of a stream carries content, from its bytes alone: what the time to the first token is
 * measured by. An opening event with an empty text does not count; reasoning and tool arguments do.
 */
import type { ShapeName } from './shape.ts';

const QUOTE = 34;

/** Names whose text value is content in chat and completions chunks, with the opening quote of the value. */
const CHAT_TEXTS = ['content', 'reasoning_content', 'reasoning', 'text', 'arguments', 'refusal', 'data'].flatMap(
  (name) => [`"${name}":"`, `"${name}": "`].map((text) => Buffer.from(text)),
);
const CHAT_TOOLS = Buffer.from('"tool_calls"');
const DELTA = Buffer.from('.delta"');
const PARTIAL_IMAGE = Buffer.from('.partial_image"');
const BLOCK_DELTA = Buffer.from('content_block_delta');
const PARTS = Buffer.from('"parts"');

function hasText(data: Buffer): boolean {
  return CHAT_TEXTS.some((opening) => {
    const at = data.indexOf(opening);
    return at !== -1 && data[at + opening.length] !== QUOTE;
  });
}

export function carriesContent(shape: ShapeName, eventType: string | null, data: Buffer): boolean {
  switch (shape) {
    case 'chat-completions':
      return hasText(data) || data.includes(CHAT_TOOLS);
    case 'responses':
      return data.includes(DELTA) || data.includes(PARTIAL_IMAGE);
    case 'messages':
      return data.includes(BLOCK_DELTA);
    case 'generate-content':
      return data.includes(PARTS) || data.includes(DELTA);
    case 'converse':
      return eventType === 'contentBlockDelta';
    case 'embeddings':
    case 'opaque':
      return false;
  }
}
