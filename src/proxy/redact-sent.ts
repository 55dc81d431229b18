/** Hides credentials of the request's headers in what else is logged of the request. Cheap, for every call. */
import { HIDDEN } from '../formats/wire/secret-form.ts';
import type { HeaderNames } from './header-names.ts';
import { MIN_CREDENTIAL_CHARS } from './list-credentials.ts';

/** Adds the secret behind the scheme. */
export function addSent(sent: string[], value: string): void {
  const text = value.trim();
  const secret = text.slice(text.lastIndexOf(' ') + 1);
  if (secret.length >= MIN_CREDENTIAL_CHARS) sent.push(secret);
}

/** For a request refused before its headers were split. */
export function listSent(rawHeaders: readonly string[], headerNames: HeaderNames): readonly string[] {
  const sent: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    if (headerNames.read(rawHeaders[index] ?? '').isSecret) addSent(sent, rawHeaders[index + 1] ?? '');
  return sent;
}

/** Returns the text itself when nothing is found. */
export function redactSent(text: string, sent: readonly string[]): string {
  let shown = text;
  for (const secret of sent) if (shown.includes(secret)) shown = shown.replaceAll(secret, HIDDEN);
  return shown;
}
