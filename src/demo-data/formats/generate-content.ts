/** An exchange as the Gemini API's generateContent has it. The model stands in the path, not here. */
import type { JsonObject } from '../../token-usage.ts';
import {
  type DemoTokens,
  type Exchange,
  type ToolUse,
  type Turn,
  toolSchema,
  type WrittenExchange,
} from '../exchange.ts';
import { dataLine, splitText } from './stream-text.ts';

export function writeGenerateContent(exchange: Exchange): WrittenExchange {
  const { system, turns, tools, isStreamed } = exchange;
  const request: JsonObject = {
    ...(system === null ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    contents: turns.map(writeTurn),
    ...(tools.length === 0
      ? {}
      : {
          tools: [
            {
              functionDeclarations: tools.map((tool) => ({
                name: tool.name,
                description: tool.about,
                parameters: toolSchema(tool),
              })),
            },
          ],
        }),
    generationConfig: { temperature: 0.4, maxOutputTokens: 4_096 },
  };
  return isStreamed
    ? { request, answer: writeStream(exchange), answerType: 'text/event-stream' }
    : {
        request,
        answer: JSON.stringify(writeChunk(exchange, writeParts(exchange), 'STOP', writeUsage(exchange.tokens))),
        answerType: 'application/json',
      };
}

function writeUse(use: ToolUse): JsonObject {
  return { functionCall: { name: use.name, args: use.input } };
}

function writeTurn(turn: Turn): JsonObject {
  switch (turn.role) {
    case 'user': {
      const image = turn.image === null ? [] : [{ inlineData: { mimeType: 'image/png', data: turn.image } }];
      return { role: 'user', parts: [{ text: turn.text }, ...image] };
    }
    case 'assistant': {
      const said = turn.text === '' ? [] : [{ text: turn.text }];
      return { role: 'model', parts: [...said, ...turn.uses.map(writeUse)] };
    }
    case 'tool':
      return {
        role: 'user',
        parts: [{ functionResponse: { name: turn.use.name, response: { result: turn.text } } }],
      };
  }
}

function writeParts({ answer }: Exchange): readonly JsonObject[] {
  const thought = answer.reasoning === null ? [] : [{ text: answer.reasoning, thought: true }];
  const said = answer.text === '' ? [] : [{ text: answer.text }];
  return [...thought, ...said, ...answer.uses.map(writeUse)];
}

function writeUsage({ input, cacheRead, output, reasoning }: DemoTokens): JsonObject {
  const prompt = input + cacheRead;
  return {
    promptTokenCount: prompt,
    ...(cacheRead === 0 ? {} : { cachedContentTokenCount: cacheRead }),
    candidatesTokenCount: output - reasoning,
    ...(reasoning === 0 ? {} : { thoughtsTokenCount: reasoning }),
    totalTokenCount: prompt + output,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
  };
}

function writeChunk(
  { mark, servedModel }: Exchange,
  parts: readonly JsonObject[],
  finishReason: string | null,
  usageMetadata: JsonObject,
): JsonObject {
  const candidate: JsonObject = {
    content: { parts, role: 'model' },
    ...(finishReason === null ? {} : { finishReason }),
    index: 0,
  };
  return { candidates: [candidate], usageMetadata, modelVersion: servedModel, responseId: mark };
}

function writeStream(exchange: Exchange): string {
  const pieces = splitText(exchange.answer.text).map((text): readonly JsonObject[] => [{ text }]);
  const others = writeParts(exchange).filter((part) => !('text' in part) || 'thought' in part);
  const chunks = [...others.map((part) => [part]), ...pieces];
  const last = chunks.length - 1;
  return chunks
    .map((parts, index) =>
      dataLine(
        index === last
          ? writeChunk(exchange, parts, 'STOP', writeUsage(exchange.tokens))
          : writeChunk(exchange, parts, null, { promptTokenCount: exchange.tokens.input + exchange.tokens.cacheRead }),
      ),
    )
    .join('');
}
