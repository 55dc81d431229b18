/** A file that is ours as a whole: a text, at the empty place. */
import type { ConfigFormat } from '../config-format.ts';

export const wholeFormat: ConfigFormat = {
  parse: (text) => text,
  set: (_text, _place, value) => (typeof value === 'string' ? value : ''),
};
