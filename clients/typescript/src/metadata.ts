/** From names and values in a program to headers of the gateway. */
import { createHash } from 'node:crypto';

export type Metadata = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A long header would make the call fail. */
const MAX_VALUE_CHARACTERS = 4_000;
const MAX_NAME_CHARACTERS = 200;
const RESERVED = new Set(['key', 'provider', 'provider-alias', 'client', 'trace-id', 'span-path', 'span-name']);

/** Throws for a name that is reserved or cannot be one of a header. A value of null or undefined is left out. */
export function metadataHeaders(metadata: Metadata): Readonly<Record<string, string>> {
  const entries = Object.entries(metadata).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[headerName(name), headerValue(String(value))] as const],
  );
  return Object.freeze(Object.fromEntries(entries));
}

/** `userId`, `user_id` and `user-id` are `X-Gateway-User-Id`. */
function headerName(name: string): string {
  if (!/^[A-Za-z0-9]+(?:[-_]+[A-Za-z0-9]+)*$/.test(name)) {
    throw new TypeError(`${JSON.stringify(name)} cannot be the name of metadata: letters, digits, - and _ only`);
  }
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').split(/[-_]+/);
  const joined = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('-');
  if (RESERVED.has(joined.toLowerCase())) {
    throw new TypeError(`${JSON.stringify(name)} cannot be the name of metadata: the gateway reserves it`);
  }
  return `X-Gateway-${joined}`;
}

/** In the form of RFC 8187 where a header could not have it. */
function headerValue(text: string): string {
  const short = text.slice(0, MAX_VALUE_CHARACTERS);
  return isPlain(text) ? short.trimEnd() : cut(`UTF-8''${encode(short)}`, MAX_VALUE_CHARACTERS);
}

/** An id that could be a header's value stays as it is, so that it can be looked up; else it is percent-encoded. */
export function headerSafeId(id: string): string {
  const safe = isPlain(id.trim()) ? id.trim() : encode(id.trim());
  if (safe.length <= MAX_VALUE_CHARACTERS) return safe;
  // Runs stay apart, as in the gateway, which cuts ids too.
  return `${cut(safe, MAX_VALUE_CHARACTERS - 65)}~${createHash('sha256').update(safe).digest('hex')}`;
}

/** Names beyond the limit are left out, innermost first. */
export function encodePath(names: readonly string[]): string {
  let path = '';
  for (const name of names) {
    const part = encode(name.trim().slice(0, MAX_NAME_CHARACTERS));
    if (part === '') continue;
    const longer = path === '' ? part : `${path}/${part}`;
    if (longer.length > MAX_VALUE_CHARACTERS) break;
    path = longer;
  }
  return path;
}

function isPlain(text: string): boolean {
  return /^[ -~]*$/.test(text) && text === text.trim();
}

/** At a character's boundary. */
function cut(encoded: string, limit: number): string {
  if (encoded.length <= limit) return encoded;
  let short = encoded.slice(0, limit).replace(/%.?$/, '');
  // What follows goes on with a character that has begun.
  while (/^%[89AB]/.test(encoded.slice(short.length))) short = short.slice(0, -3);
  return short;
}

/** What has no place in UTF-8 (half of a surrogate pair) or in the log (NUL) is replaced. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/[\0\p{Surrogate}]/gu, '\uFFFD')).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
