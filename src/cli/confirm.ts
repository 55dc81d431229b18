/** Asks a person at a terminal before something is changed. */
import { createInterface } from 'node:readline/promises';
import { OperatorError } from '../vocabulary/errors.ts';

export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** `instead` says what to write where nobody can be asked. */
export async function confirm(question: string, instead: string): Promise<boolean> {
  if (!canAsk()) throw new OperatorError(`nobody can be asked here, and nothing was changed; ${instead}`);
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^\s*y(es)?\s*$/i.test(await prompt.question(`${question} [y/N] `));
  } finally {
    prompt.close();
  }
}
