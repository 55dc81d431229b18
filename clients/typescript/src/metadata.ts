/** From names and values in a program to headers of the gateway. */

export type Metadata = Readonly<Record<string, string | number | boolean | null | undefined>>;

const MAX_PATH_CHARACTERS = 4_000;
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
  return isPlain(text) ? text : `UTF-8''${encode(text)}`;
}

/** An id that could be a header's value stays as it is, so that it can be looked up; else it is percent-encoded. */
export function headerSafeId(id: string): string {
  return isPlain(id.trim()) ? id.trim() : encode(id.trim());
}

/** Names beyond the limit are left out, innermost first: a long header would make the call fail. */
export function encodePath(names: readonly string[]): string {
  let path = '';
  for (const name of names) {
    const part = encode(name.trim().slice(0, MAX_NAME_CHARACTERS));
    if (part === '') continue;
    const longer = path === '' ? part : `${path}/${part}`;
    if (longer.length > MAX_PATH_CHARACTERS) break;
    path = longer;
  }
  return path;
}

function isPlain(text: string): boolean {
  return /^[ -~]*$/.test(text) && text === text.trim();
}

/** Half of a surrogate pair cannot be encoded, and is replaced. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD')).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
