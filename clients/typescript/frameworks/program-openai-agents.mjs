/** OpenAI Agents JS: an agent as a tool of another, and a handoff. */
import { Agent, run as runAgent, tool } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';
import { install } from '../src/index.ts';
import { inTwoRuns } from './two-runs.mjs';

install();
const weather = tool({
  name: 'weather',
  description: 'Says the weather.',
  parameters: z.object({ text: z.string() }),
  execute: async () => {
    await new OpenAI().chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
    return 'sunny';
  },
});
const helper = new Agent({ name: 'helper', tools: [weather], model: 'gpt-4o-mini' });
const boss = new Agent({
  name: 'boss',
  tools: [helper.asTool({ toolName: 'helper', toolDescription: 'asks the helper' })],
  model: 'gpt-4o-mini',
});
const triage = new Agent({ name: 'triage', handoffs: [helper], model: 'gpt-4o-mini' });
await inTwoRuns(async () => {
  await runAgent(boss, 'go');
  await runAgent(triage, 'go');
});
