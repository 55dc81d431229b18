/** The options that limit calls, of keys and of accounts. */
import type { Command } from 'commander';
import { OperatorError } from '../vocabulary/errors.ts';

export interface LimitFlags {
  readonly maxConcurrent?: string;
  readonly rpm?: string;
  readonly tpm?: string;
}

export function addLimitOptions(command: Command): Command {
  return command
    .option('--max-concurrent <n>', 'how many calls may be open at once; any: without limit')
    .option('--rpm <n>', 'how many requests a minute; any: without limit')
    .option('--tpm <n>', 'how many tokens a minute; any: without limit');
}

/** What was not given is undefined. */
export function readLimitFlags(flags: LimitFlags): Readonly<Record<string, number | null | undefined>> {
  return {
    max_concurrent: readMost(flags.maxConcurrent, '--max-concurrent'),
    requests_per_minute: readMost(flags.rpm, '--rpm'),
    tokens_per_minute: readMost(flags.tpm, '--tpm'),
  };
}

function readMost(text: string | undefined, option: string): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === 'any') return null;
  if (!/^[1-9]\d{0,12}$/.test(text)) throw new OperatorError(`${option}: "${text}" is no whole number above 0, or any`);
  return Number(text);
}
