/** The thread that counts tokens: the encoding, 75 MB once it is loaded, lives here and ends with it. */
import { parentPort } from 'node:worker_threads';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { type Measured, type MeasureTask, measureBodies } from './measure-bodies.ts';

/** From then on bytes are counted, well before the thread's owner gives it up. */
const COUNTING_LIMIT_MS = 5_000;

/** Text that looks like a mark of the format is text. */
const AS_TEXT = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };

parentPort?.on('message', (task: MeasureTask) => {
  const measured: Measured = measureBodies(task, {
    countTokens: (text) => countTokens(text, AS_TEXT),
    nowMs: () => performance.now(),
    deadlineMs: performance.now() + COUNTING_LIMIT_MS,
  });
  parentPort?.postMessage(measured);
});
