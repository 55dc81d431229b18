/** A call in OpenAI's Responses format. One question, no tools. */
import type { PlannedCall } from '../planned-call.ts';
import { createdAtS, type DemoFormat, namedEvent, questionOf, splitText } from './format.ts';

interface OutputItem {
  readonly id: string;
  readonly type: 'reasoning' | 'message';
}

function writeOutput({ mark, answer }: PlannedCall): readonly OutputItem[] {
  const thought = {
    id: `rs_${mark}`,
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: answer.reasoning }],
  } as const;
  const message = {
    id: `msg_${mark}`,
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text: answer.text, annotations: [] }],
  } as const;
  return answer.reasoning === null ? [message] : [thought, message];
}

function writeResponse(call: PlannedCall, status: string, output: readonly OutputItem[], usage: object | null): object {
  return {
    id: `resp_${call.mark}`,
    object: 'response',
    created_at: createdAtS(call),
    status,
    error: null,
    incomplete_details: null,
    model: call.model.served,
    output,
    service_tier: 'default',
    usage,
  };
}

function writeWhole(call: PlannedCall): object {
  const { input, cacheRead, output, reasoning } = call.tokens;
  const usage = {
    input_tokens: input + cacheRead,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + cacheRead + output,
  };
  return writeResponse(call, 'completed', writeOutput(call), usage);
}

export const responses: DemoFormat = {
  request: (call) => ({
    model: call.model.requested,
    instructions: call.system ?? undefined,
    input: [{ role: 'user', content: [{ type: 'input_text', text: questionOf(call).text }] }],
    reasoning: call.answer.reasoning === null ? undefined : { effort: 'medium', summary: 'auto' },
    stream: call.isStreamed || undefined,
  }),
  whole: writeWhole,
  stream(call) {
    const items = writeOutput(call).flatMap((item, output_index) => {
      const deltas = splitText(call.answer.text).map((delta) => ({
        type: 'response.output_text.delta',
        item_id: item.id,
        output_index,
        content_index: 0,
        delta,
      }));
      return [
        { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } },
        ...(item.type === 'message' ? deltas : []),
        { type: 'response.output_item.done', output_index, item },
      ];
    });
    return [
      { type: 'response.created', response: writeResponse(call, 'in_progress', [], null) },
      ...items,
      { type: 'response.completed', response: writeWhole(call) },
    ]
      .map((event, sequence_number) => namedEvent({ ...event, sequence_number }))
      .join('');
  },
};
