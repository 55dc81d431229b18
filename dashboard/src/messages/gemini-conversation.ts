/** Gemini's generateContent as a conversation. Source: ai.google.dev, API reference, Content and GenerateContentResponse. */
import type { FormatReader, Message, OfferedTool, Part } from './conversation.ts';
import { isRecord, readAnyField, readField, readList, readNumber, readText, toList } from './json-reading.ts';
import {
  citationParts,
  kindOfMedia,
  mediaPart,
  reasoningPart,
  requestMessage,
  responseMessage,
  textPart,
  toolCallPart,
  toolResultPart,
  unknownPart,
} from './parts.ts';

function readPart(part: unknown): Part {
  const text = readText(part, 'text');
  if (text !== null) return readField(part, 'thought') === true ? reasoningPart(text) : textPart(text);
  const call = readAnyField(part, 'functionCall', 'function_call');
  if (isRecord(call))
    return toolCallPart({ id: readText(call, 'id'), name: readText(call, 'name'), arguments: readField(call, 'args') });
  const response = readAnyField(part, 'functionResponse', 'function_response');
  if (isRecord(response)) {
    const value = readField(response, 'response');
    return toolResultPart(
      {
        callId: readText(response, 'id'),
        name: readText(response, 'name'),
        isError: readField(value, 'error') !== undefined,
      },
      [unknownPart('response', value ?? null)],
    );
  }
  const inline = readAnyField(part, 'inlineData', 'inline_data');
  const file = readAnyField(part, 'fileData', 'file_data');
  const media = inline ?? file;
  if (isRecord(media)) {
    const type = readAnyField(media, 'mimeType', 'mime_type');
    const mediaType = typeof type === 'string' ? type : null;
    const uri = readAnyField(media, 'fileUri', 'file_uri');
    return mediaPart(kindOfMedia(mediaType), {
      mediaType,
      name: readText(media, 'displayName'),
      base64: readText(media, 'data'),
      reference: typeof uri === 'string' ? uri : null,
    });
  }
  const code = readAnyField(part, 'executableCode', 'executable_code');
  if (isRecord(code)) return toolCallPart({ id: null, name: 'code_execution', arguments: code, isHosted: true });
  const result = readAnyField(part, 'codeExecutionResult', 'code_execution_result');
  if (isRecord(result)) {
    const outcome = readText(result, 'outcome');
    return toolResultPart({ name: 'code_execution', isError: outcome !== null && outcome !== 'OUTCOME_OK' }, [
      textPart(readText(result, 'output') ?? ''),
    ]);
  }
  return typeof part === 'string' ? textPart(part) : unknownPart('part', part);
}

function readParts(content: unknown): readonly Part[] {
  if (typeof content === 'string') return [textPart(content)];
  return readList(content, 'parts').map(readPart);
}

function readContent(content: unknown): Message {
  const parts = readParts(content);
  const isResult = parts.length > 0 && parts.every(({ type }) => type === 'tool_result');
  return requestMessage(isResult ? 'tool' : (readText(content, 'role') ?? 'user'), parts);
}

function readContents(body: unknown): readonly Message[] {
  const contents = readField(body, 'contents');
  return (isRecord(contents) || typeof contents === 'string' ? [contents] : toList(contents)).map(readContent);
}

function readTools(tool: unknown): readonly OfferedTool[] {
  const declared = toList(readAnyField(tool, 'functionDeclarations', 'function_declarations')).map((declaration) => ({
    name: readText(declaration, 'name') ?? '(no name)',
    description: readText(declaration, 'description'),
    schema: readAnyField(declaration, 'parameters', 'parametersJsonSchema', 'parameters_json_schema') ?? null,
    cacheMark: null,
  }));
  const hosted = Object.entries(isRecord(tool) ? tool : {})
    .filter(([name]) => name !== 'functionDeclarations' && name !== 'function_declarations')
    .map(([name, settings]) => ({ name, description: null, schema: settings, cacheMark: null }));
  return [...declared, ...hosted];
}

function readResponseFormat(config: unknown): unknown {
  return readAnyField(config, 'responseJsonSchema', 'responseSchema', 'response_schema') ?? null;
}

function readCandidate(candidate: unknown, position: number): Message {
  const parts = [
    ...readParts(readField(candidate, 'content')),
    ...citationParts(readList(readField(candidate, 'groundingMetadata'), 'groundingChunks'), (chunk) => {
      const web = readField(chunk, 'web');
      return { title: readText(web, 'title'), source: readText(web, 'uri') };
    }),
  ];
  return responseMessage(parts, {
    choice: readNumber(candidate, 'index') ?? position,
    stopReason: readText(candidate, 'finishReason'),
  });
}

export const geminiReader: FormatReader = {
  readRequest: (body) => {
    const inner = readField(body, 'generateContentRequest') ?? body;
    const system = readParts(readAnyField(inner, 'systemInstruction', 'system_instruction'));
    const cached = readText(inner, 'cachedContent');
    return {
      messages: [...(system.length === 0 ? [] : [requestMessage('system', system)]), ...readContents(inner)],
      tools: readList(inner, 'tools').flatMap(readTools),
      responseFormat: readResponseFormat(readAnyField(inner, 'generationConfig', 'generation_config')),
      notes: cached === null ? [] : [`It begins with the cached content ${cached}, which the provider keeps.`],
    };
  },
  readResponse: (body) => {
    const messages = readList(body, 'candidates').map(readCandidate);
    const blocked = readText(readField(body, 'promptFeedback'), 'blockReason');
    return {
      messages,
      stopReason: messages[0]?.stopReason ?? blocked,
      notes: blocked === null ? [] : [`The provider blocked the prompt: ${blocked}.`],
    };
  },
};
