/** Asks a person before something is changed. Who is no terminal must have said beforehand that it is meant. */
import { createInterface } from 'node:readline/promises';
import { OperatorError } from '../errors.ts';

/** Whether there is a person before this terminal. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** True for "y" or "yes". `instead` is what to write where nobody can be asked. */
export async function confirm(question: string, instead: string): Promise<boolean> {
  if (!canAsk()) throw new OperatorError(`nobody can be asked here, and nothing was changed; ${instead}`);
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^\s*y(es)?\s*$/i.test(await prompt.question(`${question} [y/N] `));
  } finally {
    prompt.close();
  }
}
