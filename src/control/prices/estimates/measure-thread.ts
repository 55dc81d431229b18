/** The thread that counts tokens: it holds the encoding, 75 MB once loaded. */
import { parentPort } from 'node:worker_threads';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { type Measured, type MeasureTask, measureBodies } from './measure-bodies.ts';

/** Bytes are counted from then on, well before the owner's limit. */
const COUNTING_LIMIT_MS = 5_000;

/** Text that looks like a special token is text. */
const AS_TEXT = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };

parentPort?.on('message', (task: MeasureTask) => {
  const measured: Measured = measureBodies(task, {
    countTokens: (text) => countTokens(text, AS_TEXT),
    nowMs: () => performance.now(),
    deadlineMs: performance.now() + COUNTING_LIMIT_MS,
  });
  parentPort?.postMessage(measured);
});
