/** A setting as it was given, and what is said when it is not allowed. Shared by those that read settings. */
import { OperatorError } from '../errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting as given: its name for messages, and its value; an empty value counts as not given. */
export interface Given {
  readonly name: string;
  readonly value: string | null;
}

export function refuse(given: Given, allowed: string): OperatorError {
  return new OperatorError(`${given.name}: ${JSON.stringify(given.value)} is not allowed; it must be ${allowed}`);
}

/** Scheme, host, port and prefix without a trailing slash. Never quotes a value that may hold a password. */
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
