/** A provider's name as it is typed, checked before anything is asked: a slip is answered with the names there are. */
import { PROVIDER_NAMES, type ProviderName } from '../call-record.ts';
import { OperatorError } from '../errors.ts';

export function requireProvider(text: string): ProviderName {
  const found = PROVIDER_NAMES.find((name) => name === text);
  if (found === undefined) throw new OperatorError(`"${text}" is no provider; they are ${PROVIDER_NAMES.join(', ')}`);
  return found;
}
