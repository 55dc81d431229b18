/** Answers that are passed through and logged, but not metered. */
import { withTerminal } from './reading.ts';
import type { Shape } from './shape.ts';

export const opaque: Shape = {
  name: 'opaque',
  readJson: (_body, reading) => withTerminal(reading),
  mayMatter: () => false,
  readEvent: (_eventType, _data, reading) => reading,
  doneText: null,
};
