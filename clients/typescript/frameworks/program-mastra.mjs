/** Mastra: an agent with a tool that calls, in steps by hand. */
import { createOpenAI } from '@ai-sdk/openai';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { generateText } from 'ai';
import { z } from 'zod';
import { install, step } from '../src/index.ts';
import { inTwoRuns } from './two-runs.mjs';

install();
const model = createOpenAI().chat('gpt-4o-mini');
const weather = createTool({
  id: 'weather',
  description: 'Says the weather.',
  inputSchema: z.object({ text: z.string() }),
  execute: () => step('weather', async () => ({ text: (await generateText({ model, prompt: 'inside' })).text })),
});
const agent = new Agent({
  id: 'asker',
  name: 'asker',
  instructions: 'Ask.',
  model: 'openai/gpt-4o-mini',
  tools: { weather },
});
await inTwoRuns(() => step('asker', () => agent.generate('go')));
