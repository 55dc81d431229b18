/** A format whose answers are one JSON body and never a stream. */
import type { UsageFormat } from './usage-format.ts';

export function createWholeAnswer(name: UsageFormat['name'], readJson: UsageFormat['readJson']): UsageFormat {
  return {
    name,
    readJson,
    mayMatter: () => false,
    readEvent: (_eventType, _data, reported) => reported,
    doneText: null,
  };
}
