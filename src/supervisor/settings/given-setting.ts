/** Settings as given, and the message when one is not allowed. */
import { OperatorError } from '../../vocabulary/errors.ts';

export interface Given {
  readonly name: string;
  readonly value: string | null;
}

export function refuse(given: Given, allowed: string): OperatorError {
  return new OperatorError(`${given.name}: ${JSON.stringify(given.value)} is not allowed; it must be ${allowed}`);
}

/** Never quotes a value that may hold a password. */
export function readAddress(given: Given & { readonly value: string }, allowed: string): URL {
  const url = URL.parse(given.value);
  if (url !== null && (url.username !== '' || url.password !== '')) {
    throw new OperatorError(`${given.name}: it must be ${allowed}, without a user name or password`);
  }
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.search !== '' || url.hash !== '') {
    throw refuse(given, allowed);
  }
  return url;
}

export function trimSlash(text: string): string {
  return text.replace(/\/+$/, '');
}
