/** Answers that are passed through and logged, but not metered. */
import { withTerminal } from './reading.ts';
import { createWholeAnswer } from './whole-answer.ts';

export const opaque = createWholeAnswer('opaque', (_body, reading) => withTerminal(reading));
