/** Reads a secret from the environment, directly or from a file. Its value never stands in a message. */
import { readFileSync } from 'node:fs';
import { OperatorError } from '../errors.ts';

/** What is sure to be meant as a path. */
const PATH = /^\.{0,2}\//;

/** The value of a secret, given as `NAME` or as the first line of the file that `NAME_FILE` names. */
export function readSecret(variable: string, env: Readonly<Record<string, string | undefined>>): string | null {
  const direct = env[variable]?.trim() ?? '';
  const file = env[`${variable}_FILE`]?.trim() ?? '';
  if (direct !== '' && file !== '') {
    throw new OperatorError(`${variable} and ${variable}_FILE are both set; set one of them`);
  }
  if (file === '') return direct === '' ? null : direct;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    // Some give the secret itself here, and its message would show it.
    if (!PATH.test(file))
      throw new OperatorError(`${variable}_FILE: there is no file of this name; it must be the path of a file`);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new OperatorError(`${variable}_FILE: cannot read the file: ${why}`, { cause });
  }
  const value = (text.split('\n')[0] ?? '').trim();
  if (value === '') throw new OperatorError(`${variable}_FILE: the first line of ${JSON.stringify(file)} is empty`);
  return value;
}
