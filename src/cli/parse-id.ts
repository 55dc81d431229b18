/** The number of a thing, as an argument of a command. */
import { OperatorError } from '../vocabulary/errors.ts';

export function parseId(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new OperatorError(`"${text}" is not an id`);
  return Number(text);
}
