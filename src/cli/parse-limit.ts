/** `--limit` of a list, as it is typed. */
import { OperatorError } from '../errors.ts';

export function parseLimit(text: string): number {
  const limit = Number(text);
  if (!/^\d{1,9}$/.test(text) || limit < 1) throw new OperatorError(`--limit: "${text}" is not a whole number from 1`);
  return limit;
}
