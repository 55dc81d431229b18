/** An exchange as Amazon Bedrock's Converse API has it; not streamed, since its streams are binary frames. */
import type { JsonObject } from '../../token-usage.ts';
import { type Exchange, type ToolUse, type Turn, toolSchema, type WrittenExchange } from '../exchange.ts';

export function writeConverse(exchange: Exchange): WrittenExchange {
  const { system, turns, tools, answer, tokens } = exchange;
  const request: JsonObject = {
    ...(system === null
      ? {}
      : {
          system: [
            { text: system },
            ...(tokens.cacheRead + tokens.cacheWrite > 0 ? [{ cachePoint: { type: 'default' } }] : []),
          ],
        }),
    messages: turns.map(writeTurn),
    ...(tools.length === 0
      ? {}
      : {
          toolConfig: {
            tools: tools.map((tool) => ({
              toolSpec: { name: tool.name, description: tool.about, inputSchema: { json: toolSchema(tool) } },
            })),
          },
        }),
    inferenceConfig: { maxTokens: 2_048 },
  };
  const said = answer.text === '' ? [] : [{ text: answer.text }];
  const body: JsonObject = {
    output: { message: { role: 'assistant', content: [...said, ...answer.uses.map(writeUse)] } },
    stopReason: answer.uses.length === 0 ? 'end_turn' : 'tool_use',
    usage: {
      inputTokens: tokens.input,
      outputTokens: tokens.output,
      totalTokens: tokens.input + tokens.cacheRead + tokens.cacheWrite + tokens.output,
      cacheReadInputTokens: tokens.cacheRead,
      cacheWriteInputTokens: tokens.cacheWrite,
    },
    metrics: { latencyMs: tokens.output * 12 },
  };
  return { request, answer: JSON.stringify(body), answerType: 'application/json' };
}

function writeUse(use: ToolUse): JsonObject {
  return { toolUse: { toolUseId: use.id, name: use.name, input: use.input } };
}

function writeTurn(turn: Turn): JsonObject {
  switch (turn.role) {
    case 'user': {
      const image = turn.image === null ? [] : [{ image: { format: 'png', source: { bytes: turn.image } } }];
      return { role: 'user', content: [{ text: turn.text }, ...image] };
    }
    case 'assistant': {
      const said = turn.text === '' ? [] : [{ text: turn.text }];
      return { role: 'assistant', content: [...said, ...turn.uses.map(writeUse)] };
    }
    case 'tool':
      return {
        role: 'user',
        content: [{ toolResult: { toolUseId: turn.use.id, content: [{ text: turn.text }], status: 'success' } }],
      };
  }
}
