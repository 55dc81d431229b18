/** LangChain.js: in steps by hand, with a batch and a stream. */
import { ChatOpenAI } from '@langchain/openai';
import { install, step } from '../src/index.ts';
import { inTwoRuns } from './two-runs.mjs';

install();
const model = new ChatOpenAI({ model: 'gpt-4o-mini' });
await inTwoRuns(() =>
  step('plan', async () => {
    await model.invoke('one');
    await step('batch', async () => {
      await model.batch(['a', 'b']);
      await Array.fromAsync(await model.stream('three'));
    });
  }),
);
