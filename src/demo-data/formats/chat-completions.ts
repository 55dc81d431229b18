/** An exchange as OpenAI's Chat Completions API has it; DeepSeek and Together speak it too. */
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

export function writeChatCompletions(exchange: Exchange): WrittenExchange {
  const { system, turns, tools, requestedModel, isStreamed } = exchange;
  const request: JsonObject = {
    model: requestedModel,
    messages: [...(system === null ? [] : [{ role: 'system', content: system }]), ...turns.map(writeTurn)],
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map((tool) => ({
            type: 'function',
            function: { name: tool.name, description: tool.about, parameters: toolSchema(tool) },
          })),
        }),
    ...(isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
  return isStreamed
    ? { request, answer: writeStream(exchange), answerType: 'text/event-stream' }
    : { request, answer: JSON.stringify(writeWhole(exchange)), answerType: 'application/json' };
}

function writeCall(use: ToolUse): JsonObject {
  return { id: use.id, type: 'function', function: { name: use.name, arguments: JSON.stringify(use.input) } };
}

function writeTurn(turn: Turn): JsonObject {
  switch (turn.role) {
    case 'user':
      if (turn.image === null) return { role: 'user', content: turn.text };
      return {
        role: 'user',
        content: [
          { type: 'text', text: turn.text },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${turn.image}` } },
        ],
      };
    case 'assistant':
      return {
        role: 'assistant',
        content: turn.text === '' ? null : turn.text,
        ...(turn.uses.length === 0 ? {} : { tool_calls: turn.uses.map(writeCall) }),
      };
    case 'tool':
      return { role: 'tool', tool_call_id: turn.use.id, content: turn.text };
  }
}

function writeUsage({ input, cacheRead, output, reasoning }: DemoTokens): JsonObject {
  const prompt = input + cacheRead;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

function finishReason({ answer }: Exchange): string {
  return answer.uses.length === 0 ? 'stop' : 'tool_calls';
}

function writeWhole(exchange: Exchange): JsonObject {
  const { mark, createdAtS, servedModel, answer, tokens } = exchange;
  const message: JsonObject = {
    role: 'assistant',
    content: answer.text === '' ? null : answer.text,
    ...(answer.reasoning === null ? {} : { reasoning_content: answer.reasoning }),
    ...(answer.uses.length === 0 ? {} : { tool_calls: answer.uses.map(writeCall) }),
  };
  return {
    id: `chatcmpl-${mark}`,
    object: 'chat.completion',
    created: createdAtS,
    model: servedModel,
    choices: [{ index: 0, message, finish_reason: finishReason(exchange) }],
    usage: writeUsage(tokens),
  };
}

function writeStream(exchange: Exchange): string {
  const { mark, createdAtS, servedModel, answer, tokens } = exchange;
  const head = { id: `chatcmpl-${mark}`, object: 'chat.completion.chunk', created: createdAtS, model: servedModel };
  const chunk = (delta: JsonObject, finish: string | null) =>
    dataLine({ ...head, choices: [{ index: 0, delta, finish_reason: finish }], usage: null });
  return [
    chunk({ role: 'assistant', content: '' }, null),
    ...splitText(answer.reasoning ?? '').map((piece) => chunk({ reasoning_content: piece }, null)),
    ...splitText(answer.text).map((piece) => chunk({ content: piece }, null)),
    ...answer.uses.map((use, index) => chunk({ tool_calls: [{ index, ...writeCall(use) }] }, null)),
    chunk({}, finishReason(exchange)),
    dataLine({ ...head, choices: [], usage: writeUsage(tokens) }),
    'data: [DONE]\n\n',
  ].join('');
}
