/** An exchange as Anthropic's Messages API has it, with the cache marks that a careful client sets. */
import type { JsonObject } from '../../token-usage.ts';
import { type Exchange, type ToolUse, type Turn, toolSchema, type WrittenExchange } from '../exchange.ts';
import { namedEvent, splitText } from './stream-text.ts';

const MAX_TOKENS = 4_096;
const CACHED = { cache_control: { type: 'ephemeral' } };

export function writeMessages(exchange: Exchange): WrittenExchange {
  const { system, turns, tools, requestedModel, isStreamed, tokens, answer } = exchange;
  const isCached = tokens.cacheRead + tokens.cacheWrite > 0;
  const request: JsonObject = {
    model: requestedModel,
    max_tokens: MAX_TOKENS,
    ...(system === null ? {} : { system: [{ type: 'text', text: system, ...(isCached ? CACHED : {}) }] }),
    ...(answer.reasoning === null ? {} : { thinking: { type: 'enabled', budget_tokens: 2_048 } }),
    ...(tools.length === 0
      ? {}
      : { tools: tools.map((tool) => ({ name: tool.name, description: tool.about, input_schema: toolSchema(tool) })) }),
    messages: turns.map((turn, index) => writeTurn(turn, isCached && index === turns.length - 1)),
    ...(isStreamed ? { stream: true } : {}),
  };
  return isStreamed
    ? { request, answer: writeStream(exchange), answerType: 'text/event-stream' }
    : { request, answer: JSON.stringify(writeWhole(exchange)), answerType: 'application/json' };
}

function writeUse(use: ToolUse): JsonObject {
  return { type: 'tool_use', id: use.id, name: use.name, input: use.input };
}

function writeTurn(turn: Turn, isCached: boolean): JsonObject {
  const mark = isCached ? CACHED : {};
  switch (turn.role) {
    case 'user': {
      const image =
        turn.image === null
          ? []
          : [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: turn.image } }];
      return { role: 'user', content: [...image, { type: 'text', text: turn.text, ...mark }] };
    }
    case 'assistant': {
      const said = turn.text === '' ? [] : [{ type: 'text', text: turn.text }];
      return { role: 'assistant', content: [...said, ...turn.uses.map(writeUse)] };
    }
    case 'tool':
      return {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: turn.use.id, content: turn.text, ...mark }],
      };
  }
}

function writeContent({ answer, mark }: Exchange): readonly JsonObject[] {
  const thought =
    answer.reasoning === null ? [] : [{ type: 'thinking', thinking: answer.reasoning, signature: `demo-${mark}` }];
  const said = answer.text === '' ? [] : [{ type: 'text', text: answer.text }];
  return [...thought, ...said, ...answer.uses.map(writeUse)];
}

function writeUsage({ tokens }: Exchange, output: number): JsonObject {
  return {
    input_tokens: tokens.input,
    cache_creation_input_tokens: tokens.cacheWrite,
    cache_read_input_tokens: tokens.cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: tokens.cacheWrite, ephemeral_1h_input_tokens: 0 },
    output_tokens: output,
    service_tier: 'standard',
  };
}

function stopReason({ answer }: Exchange): string {
  return answer.uses.length === 0 ? 'end_turn' : 'tool_use';
}

function writeWhole(exchange: Exchange): JsonObject {
  return {
    id: `msg_${exchange.mark}`,
    type: 'message',
    role: 'assistant',
    model: exchange.servedModel,
    content: writeContent(exchange),
    stop_reason: stopReason(exchange),
    stop_sequence: null,
    usage: writeUsage(exchange, exchange.tokens.output),
  };
}

function writeDeltas(block: JsonObject): { readonly start: JsonObject; readonly deltas: readonly JsonObject[] } {
  switch (block['type']) {
    case 'thinking':
      return {
        start: { type: 'thinking', thinking: '', signature: '' },
        deltas: splitText(String(block['thinking'])).map((thinking) => ({ type: 'thinking_delta', thinking })),
      };
    case 'tool_use':
      return {
        start: { ...block, input: {} },
        deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(block['input']) }],
      };
    default:
      return {
        start: { type: 'text', text: '' },
        deltas: splitText(String(block['text'])).map((text) => ({ type: 'text_delta', text })),
      };
  }
}

function writeStream(exchange: Exchange): string {
  const message = { ...writeWhole(exchange), content: [], stop_reason: null, usage: writeUsage(exchange, 1) };
  const blocks = writeContent(exchange).flatMap((block, index) => {
    const { start, deltas } = writeDeltas(block);
    return [
      namedEvent({ type: 'content_block_start', index, content_block: start }),
      ...deltas.map((delta) => namedEvent({ type: 'content_block_delta', index, delta })),
      namedEvent({ type: 'content_block_stop', index }),
    ];
  });
  return [
    namedEvent({ type: 'message_start', message }),
    ...blocks,
    namedEvent({
      type: 'message_delta',
      delta: { stop_reason: stopReason(exchange), stop_sequence: null },
      usage: { output_tokens: exchange.tokens.output },
    }),
    namedEvent({ type: 'message_stop' }),
  ].join('');
}
