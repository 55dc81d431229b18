/** Options and arguments of several commands, checked before the gateway is asked. */
import { Option } from 'commander';
import { PROVIDER_NAMES, type ProviderName } from '../vocabulary/call-record.ts';
import { OperatorError } from '../vocabulary/errors.ts';

export function repeatable(flags: string, description: string): Option {
  return new Option(flags, description)
    .argParser((value: string, former: readonly string[]) => [...former, value])
    .default([], 'none');
}

export function parseLimit(text: string): number {
  const limit = Number(text);
  if (!/^\d{1,9}$/.test(text) || limit < 1) throw new OperatorError(`--limit: "${text}" is not a whole number from 1`);
  return limit;
}

export function requireProvider(text: string): ProviderName {
  const found = PROVIDER_NAMES.find((name) => name === text);
  if (found === undefined) throw new OperatorError(`"${text}" is no provider; they are ${PROVIDER_NAMES.join(', ')}`);
  return found;
}
