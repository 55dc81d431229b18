/** The AI SDK: a tool that calls another model, with telemetry and in a step by hand. */
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs, tool } from 'ai';
import { z } from 'zod';
import { install, step } from '../src/index.ts';
import { inTwoRuns } from './two-runs.mjs';

install();
const model = createOpenAI().chat('gpt-4o-mini');
const weather = tool({
  description: 'Says the weather.',
  inputSchema: z.object({ text: z.string() }),
  execute: () => step('weather', async () => (await generateText({ model, prompt: 'inside' })).text),
});
await inTwoRuns(() =>
  step('answer', () => generateText({ model, prompt: 'go', tools: { weather }, stopWhen: stepCountIs(3) })),
);
