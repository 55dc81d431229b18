/** The AI SDK with its telemetry, by OpenTelemetry's own SDK: no step by hand. */
import { createOpenAI } from '@ai-sdk/openai';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { generateText, stepCountIs, tool } from 'ai';
import { z } from 'zod';
import { install } from '../src/index.ts';
import { inTwoRuns } from './two-runs.mjs';

new NodeTracerProvider().register();
install();
const model = createOpenAI().chat('gpt-4o-mini');
const telemetry = (functionId) => ({ isEnabled: true, functionId });
const weather = tool({
  description: 'Says the weather.',
  inputSchema: z.object({ text: z.string() }),
  execute: async () => (await generateText({ model, prompt: 'inside', experimental_telemetry: telemetry('ask') })).text,
});
await inTwoRuns(() =>
  generateText({
    model,
    prompt: 'go',
    tools: { weather },
    stopWhen: stepCountIs(3),
    experimental_telemetry: telemetry('answer'),
  }),
);
