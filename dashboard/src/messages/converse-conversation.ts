/** Bedrock's Converse as a conversation. Source: Bedrock API reference, ContentBlock and Converse. */
import type { FormatReader, MediaKind, Message, OfferedTool, Part } from './conversation.ts';
import { isRecord, readField, readList, readText, toList } from './json-reading.ts';
import {
  citationParts,
  mediaPart,
  reasoningPart,
  requestMessage,
  responseMessage,
  textPart,
  toolCallPart,
  toolResultPart,
  unknownPart,
} from './parts.ts';

const MAX_NESTING = 4;

function readMedia(kind: MediaKind, value: unknown): Part {
  const format = readText(value, 'format');
  const source = readField(value, 'source');
  return mediaPart(kind, {
    mediaType: format === null ? null : `${kind === 'file' ? 'application' : kind}/${format}`,
    name: readText(value, 'name'),
    base64: readText(source, 'bytes'),
    reference: readText(readField(source, 's3Location'), 'uri'),
  });
}

function readReasoning(value: unknown): Part {
  const text = readText(readField(value, 'reasoningText'), 'text');
  return reasoningPart(text ?? '', text === null);
}

/** A block is an object with one member, whose name is its type. */
function readBlock(block: unknown, depth: number): readonly Part[] {
  const text = readText(block, 'text');
  if (text !== null) return [textPart(text)];
  const [type, value] = Object.entries(isRecord(block) ? block : {})[0] ?? ['block', block];
  switch (type) {
    case 'toolUse':
    case 'serverToolUse':
      return [
        toolCallPart({
          id: readText(value, 'toolUseId'),
          name: readText(value, 'name'),
          arguments: readField(value, 'input'),
          isHosted: type === 'serverToolUse',
        }),
      ];
    case 'toolResult': {
      if (depth >= MAX_NESTING) return [unknownPart(type, value)];
      const parts = readBlocks(readField(value, 'content'), depth + 1);
      return [
        toolResultPart({ callId: readText(value, 'toolUseId'), isError: readText(value, 'status') === 'error' }, parts),
      ];
    }
    case 'json':
      return [unknownPart('json', value)];
    case 'image':
    case 'audio':
    case 'video':
      return [readMedia(type, value)];
    case 'document':
      return [readMedia('file', value)];
    case 'reasoningContent':
      return [readReasoning(value)];
    case 'citationsContent':
      return [
        ...readBlocks(readField(value, 'content'), depth + 1),
        ...citationParts(readList(value, 'citations'), (citation) => ({
          title: readText(citation, 'title'),
          source: readText(citation, 'source'),
        })),
      ];
    default:
      return [unknownPart(type, value)];
  }
}

/** A cache point marks the part before it. */
function readBlocks(content: unknown, depth = 0): readonly Part[] {
  const parts: Part[] = [];
  for (const block of toList(content)) {
    const point = readField(block, 'cachePoint');
    const last = parts.at(-1);
    if (point === undefined || last === undefined) parts.push(...readBlock(block, depth));
    else {
      const mark = [readText(point, 'type') ?? 'set', readText(point, 'ttl')]
        .filter((word) => word !== null)
        .join(', ');
      parts[parts.length - 1] = { ...last, cacheMark: mark };
    }
  }
  return parts;
}

function readMessage(message: unknown): Message {
  return requestMessage(readText(message, 'role'), readBlocks(readField(message, 'content')));
}

function readTools(config: unknown): readonly OfferedTool[] {
  const tools: OfferedTool[] = [];
  for (const tool of readList(config, 'tools')) {
    const spec = readField(tool, 'toolSpec');
    const last = tools.at(-1);
    if (readField(tool, 'cachePoint') !== undefined && last !== undefined)
      tools[tools.length - 1] = { ...last, cacheMark: readText(readField(tool, 'cachePoint'), 'type') ?? 'set' };
    else
      tools.push({
        name: readText(spec, 'name') ?? '(no name)',
        description: readText(spec, 'description'),
        schema: readField(readField(spec, 'inputSchema'), 'json') ?? tool,
        cacheMark: null,
      });
  }
  return tools;
}

export const converseReader: FormatReader = {
  readRequest: (body) => {
    const inner = readField(readField(body, 'input'), 'converse') ?? body;
    const system = readBlocks(readField(inner, 'system'));
    return {
      messages: [
        ...(system.length === 0 ? [] : [requestMessage('system', system)]),
        ...readList(inner, 'messages').map(readMessage),
      ],
      tools: readTools(readField(inner, 'toolConfig')),
      responseFormat: readField(inner, 'outputConfig') ?? null,
      notes: [],
    };
  },
  readResponse: (body) => {
    const stopReason = readText(body, 'stopReason');
    const parts = readBlocks(readField(readField(readField(body, 'output'), 'message'), 'content'));
    return { messages: parts.length === 0 ? [] : [responseMessage(parts, { stopReason })], stopReason, notes: [] };
  },
};
