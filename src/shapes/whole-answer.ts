/** A shape whose answers are one JSON body and never a stream. */
import type { Shape } from './shape.ts';

export function createWholeAnswer(name: Shape['name'], readJson: Shape['readJson']): Shape {
  return {
    name,
    readJson,
    mayMatter: () => false,
    readEvent: (_eventType, _data, reading) => reading,
    doneText: null,
  };
}
