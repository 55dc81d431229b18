/** LangGraph.js: a node with a call, and an agent with a tool that calls as well. */
import { tool } from '@langchain/core/tools';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import { install, step } from '../src/index.ts';
import { inTwoRuns } from './two-runs.mjs';

install();
const model = new ChatOpenAI({ model: 'gpt-4o-mini' });
const weather = tool(
  async () => {
    await model.invoke('inside of the tool');
    await step('rank', () => model.invoke('in a step inside of the tool'));
    return 'sunny';
  },
  { name: 'weather', description: 'Says the weather.', schema: z.object({ text: z.string() }) },
);
const agent = createReactAgent({ llm: model, tools: [weather], name: 'weather_agent' });
const graph = new StateGraph(MessagesAnnotation)
  .addNode('plan', async () => ({ messages: [await model.invoke('plan')] }))
  .addNode('ask', agent)
  .addEdge(START, 'plan')
  .addEdge('plan', 'ask')
  .addEdge('ask', END)
  .compile();
await inTwoRuns(() => graph.invoke({ messages: [{ role: 'user', content: 'hello' }] }));
