/**
 * Takes the request's own credentials, as its headers have them, out of what else is kept of the request: a path, a
 * header of another name. Done for every call, so that it is cheap; what comes back is another matter
 * (`hide-echoes.ts`).
 */
import { HIDDEN } from '../wire/secret-form.ts';
import type { AcceptedRequest } from './accept.ts';
import type { HeaderNames } from './header-names.ts';
import { MIN_CREDENTIAL_CHARS } from './list-credentials.ts';

type SentHeaders = Pick<AcceptedRequest, 'names' | 'rawHeaders'>;

/** Of each header that may carry one, what stands behind the scheme. */
export function listSent({ names, rawHeaders }: SentHeaders): readonly string[] {
  const sent: string[] = [];
  for (let index = 0; index < names.length; index += 1) {
    if (names[index]?.isSecret !== true) continue;
    const value = (rawHeaders[index * 2 + 1] ?? '').trim();
    const secret = value.slice(value.lastIndexOf(' ') + 1);
    if (secret.length >= MIN_CREDENTIAL_CHARS) sent.push(secret);
  }
  return sent;
}

/** Of a request that was refused before its headers were looked at. */
export function listSentOf(rawHeaders: readonly string[], headerNames: HeaderNames): readonly string[] {
  const names = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [headerNames.read(name)] : []));
  return listSent({ names, rawHeaders });
}

/** The same text when nothing is found, which is nearly always. */
export function hideSent(text: string, sent: readonly string[]): string {
  let shown = text;
  for (const secret of sent) if (shown.includes(secret)) shown = shown.replaceAll(secret, HIDDEN);
  return shown;
}
