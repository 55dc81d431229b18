/** Answers that are passed through and logged, but not metered. */
import { withTerminal } from './reported-usage.ts';
import { createWholeAnswer } from './whole-answer.ts';

export const opaque = createWholeAnswer('opaque', (_body, reported) => withTerminal(reported));
