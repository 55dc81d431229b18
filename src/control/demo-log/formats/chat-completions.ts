/** A call in OpenAI's Chat Completions format, also for DeepSeek and Together. One question, no tools. */
import type { PlannedCall } from '../planned-call.ts';
import { createdAtS, type DemoFormat, dataLine, questionOf, splitText } from './format.ts';

function writeUsage({ tokens: { input, cacheRead, output, reasoning } }: PlannedCall): object {
  const prompt = input + cacheRead;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

function describeHead(call: PlannedCall, object: string): object {
  return { id: `chatcmpl-${call.mark}`, object, created: createdAtS(call), model: call.model.served };
}

export const chatCompletions: DemoFormat = {
  request(call) {
    const { text, image } = questionOf(call);
    const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } };
    return {
      model: call.model.requested,
      messages: [
        ...(call.system === null ? [] : [{ role: 'system', content: call.system }]),
        { role: 'user', content: image === null ? text : [{ type: 'text', text }, picture] },
      ],
      stream: call.isStreamed || undefined,
      stream_options: call.isStreamed ? { include_usage: true } : undefined,
    };
  },
  whole(call) {
    const message = { role: 'assistant', content: call.answer.text };
    return {
      ...describeHead(call, 'chat.completion'),
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: writeUsage(call),
    };
  },
  stream(call) {
    const head = describeHead(call, 'chat.completion.chunk');
    const chunk = (delta: object, finish: string | null) =>
      dataLine({ ...head, choices: [{ index: 0, delta, finish_reason: finish }], usage: null });
    return [
      chunk({ role: 'assistant', content: '' }, null),
      ...splitText(call.answer.text).map((piece) => chunk({ content: piece }, null)),
      chunk({}, 'stop'),
      dataLine({ ...head, choices: [], usage: writeUsage(call) }),
      'data: [DONE]\n\n',
    ].join('');
  },
};
