/** Reads a secret from `NAME` or from the first line of the file `NAME_FILE`. No message quotes it. */
import { readFileSync } from 'node:fs';
import type { Environment } from '../../vocabulary/config.ts';
import { messageOf, OperatorError } from '../../vocabulary/errors.ts';

/** A value that surely is a path. */
const PATH = /^\.{0,2}\//;

export function readSecret(variable: string, env: Environment): string | null {
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
    // Some give the secret itself here, which the message would show.
    if (!PATH.test(file))
      throw new OperatorError(`${variable}_FILE: there is no file of this name; it must be the path of a file`);
    throw new OperatorError(`${variable}_FILE: cannot read the file: ${messageOf(cause)}`, { cause });
  }
  const value = (text.split('\n')[0] ?? '').trim();
  if (value === '') throw new OperatorError(`${variable}_FILE: the first line of ${JSON.stringify(file)} is empty`);
  return value;
}
