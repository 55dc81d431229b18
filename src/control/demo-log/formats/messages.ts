/** A call in Anthropic's Messages format, with tools and cache marks. */
import type { PlannedCall, ToolSpec, ToolUse, Turn } from '../planned-call.ts';
import { type DemoFormat, namedEvent, splitText } from './format.ts';

const CACHED = { type: 'ephemeral' };

function writeTool({ name, about, takes }: ToolSpec): object {
  const properties = Object.fromEntries(takes.map((parameter) => [parameter, { type: 'string' }]));
  return { name, description: about, input_schema: { type: 'object', properties, required: takes } };
}

function writeUse({ id, name, input }: ToolUse): object {
  return { type: 'tool_use', id, name, input };
}

function writeText(text: string): readonly object[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

/** The last turn of a cached conversation marks the end of the cache. */
function writeTurn(turn: Turn, isMarked: boolean): object {
  const cache_control = isMarked ? CACHED : undefined;
  switch (turn.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: turn.text, cache_control }] };
    case 'assistant':
      return { role: 'assistant', content: [...writeText(turn.text), ...turn.uses.map(writeUse)] };
    case 'tool':
      return {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: turn.use.id, content: turn.text, cache_control }],
      };
  }
}

function writeUsage({ tokens }: PlannedCall, output: number): object {
  return {
    input_tokens: tokens.input,
    cache_creation_input_tokens: tokens.cacheWrite,
    cache_read_input_tokens: tokens.cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: tokens.cacheWrite, ephemeral_1h_input_tokens: 0 },
    output_tokens: output,
    service_tier: 'standard',
  };
}

function writeMessage(call: PlannedCall, content: readonly object[], stop: string | null, output: number): object {
  return {
    id: `msg_${call.mark}`,
    type: 'message',
    role: 'assistant',
    model: call.model.served,
    content,
    stop_reason: stop,
    stop_sequence: null,
    usage: writeUsage(call, output),
  };
}

function stopReason({ answer }: PlannedCall): string {
  return answer.uses.length === 0 ? 'end_turn' : 'tool_use';
}

interface StreamedBlock {
  readonly start: object;
  readonly deltas: readonly object[];
}

function streamBlocks({ answer: { reasoning, text, uses } }: PlannedCall): readonly StreamedBlock[] {
  const thought = splitText(reasoning ?? '').map((thinking) => ({ type: 'thinking_delta', thinking }));
  const said = splitText(text).map((piece) => ({ type: 'text_delta', text: piece }));
  return [
    { start: { type: 'thinking', thinking: '', signature: '' }, deltas: thought },
    { start: { type: 'text', text: '' }, deltas: said },
    ...uses.map((use) => ({
      start: writeUse({ ...use, input: {} }),
      deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(use.input) }],
    })),
  ].filter(({ deltas }) => deltas.length > 0);
}

export const messages: DemoFormat = {
  request({ model, system, tools, turns, tokens, answer, isStreamed }) {
    const isCached = tokens.cacheRead + tokens.cacheWrite > 0;
    return {
      model: model.requested,
      max_tokens: 4_096,
      system:
        system === null ? undefined : [{ type: 'text', text: system, cache_control: isCached ? CACHED : undefined }],
      thinking: answer.reasoning === null ? undefined : { type: 'enabled', budget_tokens: 2_048 },
      tools: tools.length === 0 ? undefined : tools.map(writeTool),
      messages: turns.map((turn, index) => writeTurn(turn, isCached && index === turns.length - 1)),
      stream: isStreamed || undefined,
    };
  },
  whole(call) {
    const { reasoning, text, uses } = call.answer;
    const thought =
      reasoning === null ? [] : [{ type: 'thinking', thinking: reasoning, signature: `demo-${call.mark}` }];
    const content = [...thought, ...writeText(text), ...uses.map(writeUse)];
    return writeMessage(call, content, stopReason(call), call.tokens.output);
  },
  stream(call) {
    const blocks = streamBlocks(call).flatMap(({ start, deltas }, index) => [
      namedEvent({ type: 'content_block_start', index, content_block: start }),
      ...deltas.map((delta) => namedEvent({ type: 'content_block_delta', index, delta })),
      namedEvent({ type: 'content_block_stop', index }),
    ]);
    return [
      namedEvent({ type: 'message_start', message: writeMessage(call, [], null, 1) }),
      ...blocks,
      namedEvent({
        type: 'message_delta',
        delta: { stop_reason: stopReason(call), stop_sequence: null },
        usage: { output_tokens: call.tokens.output },
      }),
      namedEvent({ type: 'message_stop' }),
    ].join('');
  },
};
