/** Anthropic's Messages, whichever host serves them, as a conversation. Source: Anthropic API reference, Messages. */
import type { FormatReader, Message, OfferedTool, Part } from './conversation.ts';
import { isNothing, readField, readList, readText } from './json-reading.ts';
import {
  citationParts,
  kindOfMedia,
  mediaPart,
  readCacheMark,
  reasoningPart,
  requestMessage,
  responseMessage,
  textPart,
  toolCallPart,
  toolResultPart,
  unknownPart,
} from './parts.ts';

/** Results hold blocks, which could hold results: deeper than this they are shown as JSON. */
const MAX_NESTING = 4;

function readSource(kind: 'image' | 'file', block: unknown, cacheMark: string | null): Part {
  const source = readField(block, 'source');
  const mediaType = readText(source, 'media_type');
  const name = readText(block, 'title');
  if (readText(source, 'type') === 'text') return textPart(readText(source, 'data') ?? '', cacheMark);
  return mediaPart(mediaType === null ? kind : kindOfMedia(mediaType), {
    mediaType,
    name,
    base64: readText(source, 'data'),
    reference: readText(source, 'url') ?? readText(source, 'file_id'),
    cacheMark,
  });
}

function readTextBlock(block: unknown, cacheMark: string | null): readonly Part[] {
  return [
    textPart(readText(block, 'text') ?? '', cacheMark),
    ...citationParts(readList(block, 'citations'), (citation) => ({
      title: readText(citation, 'title') ?? readText(citation, 'document_title'),
      source: readText(citation, 'url') ?? readText(citation, 'cited_text'),
    })),
  ];
}

function readBlock(block: unknown, depth: number): readonly Part[] {
  const cacheMark = readCacheMark(block);
  const type = readText(block, 'type') ?? 'block';
  switch (type) {
    case 'text':
      return readTextBlock(block, cacheMark);
    case 'thinking':
      return [reasoningPart(readText(block, 'thinking') ?? '')];
    case 'redacted_thinking':
      return [reasoningPart('', true)];
    case 'image':
      return [readSource('image', block, cacheMark)];
    case 'document':
      return [readSource('file', block, cacheMark)];
    default:
  }
  if (type.endsWith('tool_use'))
    return [
      toolCallPart({
        id: readText(block, 'id'),
        name: readText(block, 'name'),
        arguments: readField(block, 'input'),
        isHosted: type !== 'tool_use',
        cacheMark,
      }),
    ];
  if (type.endsWith('tool_result') && depth < MAX_NESTING) {
    const isError =
      readField(block, 'is_error') === true || readText(readField(block, 'content'), 'error_code') !== null;
    const parts = readBlocks(readField(block, 'content'), depth + 1);
    return [toolResultPart({ callId: readText(block, 'tool_use_id'), isError, cacheMark }, parts)];
  }
  return [unknownPart(type, block, cacheMark)];
}

function readBlocks(content: unknown, depth = 0): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [textPart(content)];
  if (Array.isArray(content)) return content.flatMap((block) => readBlock(block, depth));
  return isNothing(content) ? [] : [unknownPart('content', content)];
}

function readMessage(message: unknown): Message {
  return requestMessage(readText(message, 'role'), readBlocks(readField(message, 'content')));
}

function readTool(tool: unknown): OfferedTool {
  return {
    name: readText(tool, 'name') ?? readText(tool, 'type') ?? '(no name)',
    description: readText(tool, 'description'),
    // A tool of the provider's own has settings instead of a schema.
    schema: readField(tool, 'input_schema') ?? tool,
    cacheMark: readCacheMark(tool),
  };
}

export const messagesReader: FormatReader = {
  readRequest: (body) => {
    const system = readBlocks(readField(body, 'system'));
    return {
      messages: [
        ...(system.length === 0 ? [] : [requestMessage('system', system)]),
        ...readList(body, 'messages').map(readMessage),
      ],
      tools: readList(body, 'tools').map(readTool),
      responseFormat: readField(readField(body, 'output_config'), 'format') ?? readField(body, 'output_format') ?? null,
      notes: [],
    };
  },
  readResponse: (body) => {
    const stopReason = readText(body, 'stop_reason');
    const parts = readBlocks(readField(body, 'content'));
    return { messages: parts.length === 0 ? [] : [responseMessage(parts, { stopReason })], stopReason, notes: [] };
  },
};
