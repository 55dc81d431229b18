/** A call in Bedrock's Converse format. One question, no tools, no stream. */
import { type DemoFormat, questionOf } from './format.ts';

export const converse: DemoFormat = {
  request: (call) => ({
    system: call.system === null ? undefined : [{ text: call.system }],
    messages: [{ role: 'user', content: [{ text: questionOf(call).text }] }],
    inferenceConfig: { maxTokens: 2_048 },
  }),
  whole: ({ answer, tokens }) => ({
    output: { message: { role: 'assistant', content: [{ text: answer.text }] } },
    stopReason: 'end_turn',
    usage: {
      inputTokens: tokens.input,
      outputTokens: tokens.output,
      totalTokens: tokens.input + tokens.cacheRead + tokens.cacheWrite + tokens.output,
      cacheReadInputTokens: tokens.cacheRead,
      cacheWriteInputTokens: tokens.cacheWrite,
    },
    metrics: { latencyMs: tokens.output * 12 },
  }),
  stream: null,
};
