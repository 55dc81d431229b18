/**
 * Chat completions (and the older completions) as a conversation. Source: OpenAI API reference, Chat; the fields that
 * compatible hosts add (`reasoning_content`, `reasoning`).
 */
import type { FormatReader, Message, OfferedTool, Part } from './conversation.ts';
import { isNothing, isRecord, readField, readList, readNumber, readText, toList } from './json-reading.ts';
import {
  citationParts,
  mediaPart,
  mediaPartOfUrl,
  readCacheMark,
  reasoningPart,
  refusalPart,
  requestMessage,
  responseMessage,
  textPart,
  toolCallPart,
  toolResultPart,
  unknownPart,
} from './parts.ts';

function readContentPart(part: unknown): Part {
  const cacheMark = readCacheMark(part);
  const type = readText(part, 'type');
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return textPart(readText(part, 'text') ?? '', cacheMark);
    case 'refusal':
      return refusalPart(readText(part, 'refusal') ?? '');
    case 'image_url': {
      const image = readField(part, 'image_url');
      const url = typeof image === 'string' ? image : readText(image, 'url');
      return url === null ? unknownPart(type, part, cacheMark) : mediaPartOfUrl('image', url, { cacheMark });
    }
    case 'input_audio': {
      const audio = readField(part, 'input_audio');
      const format = readText(audio, 'format');
      return mediaPart('audio', {
        mediaType: format === null ? null : `audio/${format}`,
        base64: readText(audio, 'data'),
        cacheMark,
      });
    }
    case 'file': {
      const file = readField(part, 'file');
      const name = readText(file, 'filename');
      const data = readText(file, 'file_data');
      if (data !== null) return mediaPartOfUrl('file', data, { name, cacheMark });
      return mediaPart('file', { name, reference: readText(file, 'file_id'), cacheMark });
    }
    default:
      return typeof part === 'string' ? textPart(part) : unknownPart(type ?? 'part', part, cacheMark);
  }
}

export function readChatContent(content: unknown): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [textPart(content)];
  if (Array.isArray(content)) return content.map(readContentPart);
  return isNothing(content) ? [] : [unknownPart('content', content)];
}

function readReasoning(message: unknown): readonly Part[] {
  const text = readText(message, 'reasoning_content') ?? readText(message, 'reasoning');
  return text === null || text === '' ? [] : [reasoningPart(text)];
}

function readToolCall(call: unknown): Part {
  const fn = readField(call, 'function');
  const custom = readField(call, 'custom');
  return toolCallPart({
    id: readText(call, 'id'),
    name: readText(fn, 'name') ?? readText(custom, 'name') ?? readText(call, 'type'),
    arguments: readField(fn, 'arguments') ?? readField(custom, 'input') ?? null,
  });
}

function readLegacyCall(message: unknown): readonly Part[] {
  const call = readField(message, 'function_call');
  if (!isRecord(call)) return [];
  return [toolCallPart({ id: null, name: readText(call, 'name'), arguments: readField(call, 'arguments') })];
}

function readAudio(message: unknown): readonly Part[] {
  const audio = readField(message, 'audio');
  if (!isRecord(audio)) return [];
  return [
    mediaPart('audio', {
      base64: readText(audio, 'data'),
      transcript: readText(audio, 'transcript'),
      reference: readText(audio, 'id'),
    }),
  ];
}

function readMessageParts(message: unknown): readonly Part[] {
  const refusal = readText(message, 'refusal');
  return [
    ...readReasoning(message),
    ...readChatContent(readField(message, 'content')),
    ...(refusal === null || refusal === '' ? [] : [refusalPart(refusal)]),
    ...readAudio(message),
    ...readList(message, 'tool_calls').map(readToolCall),
    ...readLegacyCall(message),
    ...citationParts(readList(message, 'annotations'), (annotation) => {
      const citation = readField(annotation, 'url_citation');
      return { title: readText(citation, 'title'), source: readText(citation, 'url') };
    }),
  ];
}

function readMessage(message: unknown): Message {
  const role = readText(message, 'role');
  const name = readText(message, 'name');
  if (role !== 'tool' && role !== 'function') return requestMessage(role, readMessageParts(message), name);
  const result = toolResultPart(
    { callId: readText(message, 'tool_call_id'), name, cacheMark: readCacheMark(message) },
    readChatContent(readField(message, 'content')),
  );
  return requestMessage('tool', [result], name);
}

function readTool(tool: unknown): OfferedTool {
  const inner = readField(tool, 'function') ?? readField(tool, 'custom') ?? tool;
  return {
    name: readText(inner, 'name') ?? readText(tool, 'type') ?? '(no name)',
    description: readText(inner, 'description'),
    schema: readField(inner, 'parameters') ?? readField(inner, 'format') ?? null,
    cacheMark: readCacheMark(tool),
  };
}

function readPrompt(prompt: unknown): readonly Message[] {
  if (isNothing(prompt)) return [];
  const texts = toList(prompt).length > 0 && toList(prompt).every((one) => typeof one === 'string');
  if (typeof prompt === 'string') return [requestMessage('user', [textPart(prompt)])];
  if (texts) return toList(prompt).map((one) => requestMessage('user', [textPart(String(one))]));
  return [requestMessage('user', [unknownPart('tokens', prompt)])];
}

function readChoice(choice: unknown, position: number): Message {
  const message = readField(choice, 'message');
  const text = readText(choice, 'text');
  return responseMessage(text === null ? readMessageParts(message) : [textPart(text)], {
    choice: readNumber(choice, 'index') ?? position,
    stopReason: readText(choice, 'finish_reason'),
  });
}

export const chatReader: FormatReader = {
  readRequest: (body) => ({
    messages: [...readPrompt(readField(body, 'prompt')), ...readList(body, 'messages').map(readMessage)],
    tools: [...readList(body, 'tools'), ...readList(body, 'functions')].map(readTool),
    responseFormat: readField(body, 'response_format') ?? null,
    notes: [],
  }),
  readResponse: (body) => {
    const messages = readList(body, 'choices').map(readChoice);
    return { messages, stopReason: messages[0]?.stopReason ?? null, notes: [] };
  },
};
