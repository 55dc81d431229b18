/** An exchange as OpenAI's Responses API has it. */
import type { JsonObject } from '../../token-usage.ts';
import { type Exchange, type ToolUse, type Turn, toolSchema, type WrittenExchange } from '../exchange.ts';
import { namedEvent, splitText } from './stream-text.ts';

export function writeResponses(exchange: Exchange): WrittenExchange {
  const { system, turns, tools, requestedModel, isStreamed, answer } = exchange;
  const request: JsonObject = {
    model: requestedModel,
    ...(system === null ? {} : { instructions: system }),
    input: turns.flatMap(writeTurn),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map((tool) => ({
            type: 'function',
            name: tool.name,
            description: tool.about,
            parameters: toolSchema(tool),
          })),
        }),
    ...(answer.reasoning === null ? {} : { reasoning: { effort: 'medium', summary: 'auto' } }),
    ...(isStreamed ? { stream: true } : {}),
  };
  return isStreamed
    ? { request, answer: writeStream(exchange), answerType: 'text/event-stream' }
    : { request, answer: JSON.stringify(writeWhole(exchange)), answerType: 'application/json' };
}

function writeCall(use: ToolUse): JsonObject {
  return {
    id: `fc_${use.id}`,
    type: 'function_call',
    status: 'completed',
    call_id: use.id,
    name: use.name,
    arguments: JSON.stringify(use.input),
  };
}

function writeTurn(turn: Turn): readonly JsonObject[] {
  switch (turn.role) {
    case 'user': {
      const image =
        turn.image === null ? [] : [{ type: 'input_image', image_url: `data:image/png;base64,${turn.image}` }];
      return [{ role: 'user', content: [{ type: 'input_text', text: turn.text }, ...image] }];
    }
    case 'assistant': {
      const said = turn.text === '' ? [] : [{ role: 'assistant', content: [{ type: 'output_text', text: turn.text }] }];
      return [...said, ...turn.uses.map(writeCall)];
    }
    case 'tool':
      return [{ type: 'function_call_output', call_id: turn.use.id, output: turn.text }];
  }
}

function writeOutput({ mark, answer }: Exchange): readonly JsonObject[] {
  const message: JsonObject = {
    id: `msg_${mark}`,
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text: answer.text, annotations: [] }],
  };
  return [
    ...(answer.reasoning === null
      ? []
      : [{ id: `rs_${mark}`, type: 'reasoning', summary: [{ type: 'summary_text', text: answer.reasoning }] }]),
    ...(answer.text === '' ? [] : [message]),
    ...answer.uses.map(writeCall),
  ];
}

function writeWhole(exchange: Exchange): JsonObject {
  const { mark, createdAtS, servedModel, tokens } = exchange;
  const input = tokens.input + tokens.cacheRead;
  return {
    id: `resp_${mark}`,
    object: 'response',
    created_at: createdAtS,
    status: 'completed',
    error: null,
    incomplete_details: null,
    model: servedModel,
    output: writeOutput(exchange),
    service_tier: 'default',
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: tokens.cacheRead },
      output_tokens: tokens.output,
      output_tokens_details: { reasoning_tokens: tokens.reasoning },
      total_tokens: input + tokens.output,
    },
  };
}

function writeStream(exchange: Exchange): string {
  const response = writeWhole(exchange);
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  const output = writeOutput(exchange);
  const messageIndex = output.findIndex((item) => item['type'] === 'message');
  const deltas = splitText(exchange.answer.text).map((delta) => ({
    type: 'response.output_text.delta',
    item_id: `msg_${exchange.mark}`,
    output_index: messageIndex,
    content_index: 0,
    delta,
  }));
  const events: readonly (JsonObject & { readonly type: string })[] = [
    { type: 'response.created', response: begun },
    ...output.flatMap((item, index) => [
      { type: 'response.output_item.added', output_index: index, item: { ...item, status: 'in_progress' } },
      ...(index === messageIndex ? deltas : []),
      { type: 'response.output_item.done', output_index: index, item },
    ]),
    { type: 'response.completed', response },
  ];
  return events.map((event, index) => namedEvent({ ...event, sequence_number: index })).join('');
}
