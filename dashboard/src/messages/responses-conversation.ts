/** The Responses API as a conversation: its items are messages or parts of one. Source: OpenAI API reference, Responses. */
import type { FormatReader, Message, OfferedTool, Part } from './conversation.ts';
import { isNothing, isRecord, readField, readList, readText } from './json-reading.ts';
import {
  citationParts,
  mediaPart,
  mediaPartOfUrl,
  reasoningPart,
  refusalPart,
  requestMessage,
  responseMessage,
  textPart,
  toolCallPart,
  toolResultPart,
  unknownPart,
} from './parts.ts';

function readContentPart(part: unknown): readonly Part[] {
  const type = readText(part, 'type') ?? 'part';
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
    case 'reasoning_text':
      return [
        textPart(readText(part, 'text') ?? ''),
        ...citationParts(readList(part, 'annotations'), (annotation) => ({
          title: readText(annotation, 'title') ?? readText(annotation, 'filename'),
          source: readText(annotation, 'url') ?? readText(annotation, 'file_id'),
        })),
      ];
    case 'refusal':
      return [refusalPart(readText(part, 'refusal') ?? '')];
    case 'input_image': {
      const url = readText(part, 'image_url');
      return [
        url === null ? mediaPart('image', { reference: readText(part, 'file_id') }) : mediaPartOfUrl('image', url),
      ];
    }
    case 'input_file': {
      const name = readText(part, 'filename');
      const data = readText(part, 'file_data');
      if (data !== null) return [mediaPartOfUrl('file', data, { name })];
      return [mediaPart('file', { name, reference: readText(part, 'file_url') ?? readText(part, 'file_id') })];
    }
    case 'input_audio':
      return [mediaPart('audio', { base64: readText(readField(part, 'input_audio'), 'data') })];
    default:
      return [unknownPart(type, part)];
  }
}

function readContent(content: unknown): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [textPart(content)];
  if (Array.isArray(content)) return content.flatMap(readContentPart);
  return isNothing(content) ? [] : [unknownPart('content', content)];
}

function readReasoning(item: unknown): Part {
  const texts = [...readList(item, 'summary'), ...readList(item, 'content')].map(
    (part) => readText(part, 'text') ?? '',
  );
  return reasoningPart(texts.join('\n\n'), texts.length === 0);
}

/** Calls of hosted tools: their name is in the type, their arguments in a field of each one's own. */
function readHostedCall(type: string, item: unknown): Part {
  const { id: _, type: __, status: ___, ...fields } = isRecord(item) ? item : {};
  return toolCallPart({
    id: readText(item, 'id'),
    name: readText(item, 'name') ?? type.replace(/_call$/, ''),
    arguments: readField(item, 'action') ?? readField(item, 'arguments') ?? fields,
    isHosted: true,
  });
}

interface ItemReading {
  readonly role: string | null;
  readonly parts: readonly Part[];
}

function readItem(item: unknown): ItemReading {
  const type = readText(item, 'type') ?? (readText(item, 'role') === null ? 'item' : 'message');
  switch (type) {
    case 'message':
      return { role: readText(item, 'role'), parts: readContent(readField(item, 'content')) };
    case 'reasoning':
      return { role: 'assistant', parts: [readReasoning(item)] };
    case 'function_call':
    case 'custom_tool_call':
      return {
        role: 'assistant',
        parts: [
          toolCallPart({
            id: readText(item, 'call_id'),
            name: readText(item, 'name'),
            arguments: readField(item, 'arguments') ?? readField(item, 'input'),
          }),
        ],
      };
    case 'image_generation_call': {
      const base64 = readText(item, 'result');
      const format = readText(item, 'output_format') ?? 'png';
      const call = toolCallPart({
        id: readText(item, 'id'),
        name: 'image_generation',
        arguments: null,
        isHosted: true,
      });
      return {
        role: 'assistant',
        parts: base64 === null ? [call] : [call, mediaPart('image', { base64, mediaType: `image/${format}` })],
      };
    }
    default:
  }
  if (type.endsWith('_output'))
    return {
      role: 'tool',
      parts: [toolResultPart({ callId: readText(item, 'call_id') }, readContent(readField(item, 'output')))],
    };
  if (type.endsWith('_call')) return { role: 'assistant', parts: [readHostedCall(type, item)] };
  return { role: 'other', parts: [unknownPart(type, item)] };
}

/** Items of the assistant that follow each other are one message. */
function joinItems(items: readonly ItemReading[], toMessage: (item: ItemReading) => Message): readonly Message[] {
  const joined: ItemReading[] = [];
  for (const item of items) {
    const last = joined.at(-1);
    if (last?.role === 'assistant' && item.role === 'assistant')
      joined[joined.length - 1] = { role: 'assistant', parts: [...last.parts, ...item.parts] };
    else joined.push(item);
  }
  return joined.map(toMessage);
}

function readTool(tool: unknown): OfferedTool {
  const { type: _, ...settings } = isRecord(tool) ? tool : {};
  return {
    name: readText(tool, 'name') ?? readText(tool, 'server_label') ?? readText(tool, 'type') ?? '(no name)',
    description: readText(tool, 'description'),
    schema: readField(tool, 'parameters') ?? readField(tool, 'format') ?? settings,
    cacheMark: null,
  };
}

function readNotes(body: unknown): readonly string[] {
  const previous = readText(body, 'previous_response_id');
  const conversation = readField(body, 'conversation');
  const id = typeof conversation === 'string' ? conversation : readText(conversation, 'id');
  const prompt = readText(readField(body, 'prompt'), 'id');
  return [
    ...(previous === null
      ? []
      : [`It goes on from the answer ${previous}: what was said before is kept by the provider.`]),
    ...(id === null ? [] : [`It belongs to the conversation ${id}: what was said before is kept by the provider.`]),
    ...(prompt === null ? [] : [`It uses the stored prompt ${prompt}: its text is kept by the provider.`]),
  ];
}

function readStopReason(body: unknown): string | null {
  return readText(readField(body, 'incomplete_details'), 'reason') ?? readText(body, 'status');
}

export const responsesReader: FormatReader = {
  readRequest: (body) => {
    const instructions = readText(body, 'instructions');
    const input = readField(body, 'input');
    const items =
      typeof input === 'string' ? [{ role: 'user', parts: [textPart(input)] }] : readList(body, 'input').map(readItem);
    return {
      messages: [
        ...(instructions === null ? [] : [requestMessage('system', [textPart(instructions)])]),
        ...joinItems(items, ({ role, parts }) => requestMessage(role, parts)),
      ],
      tools: readList(body, 'tools').map(readTool),
      responseFormat: readField(readField(body, 'text'), 'format') ?? null,
      notes: readNotes(body),
    };
  },
  readResponse: (body) => {
    const stopReason = readStopReason(body);
    const messages = joinItems(readList(body, 'output').map(readItem), ({ role, parts }) =>
      responseMessage(parts, { role: role === 'tool' ? 'tool' : 'assistant', stopReason }),
    );
    return { messages, stopReason, notes: [] };
  },
};
