/** Lists the credentials a request carries, to be searched for in what comes back. Never stored. */
import { decodeParameterName, isSecretName } from '../formats/wire/secret-name.ts';
import { listInTarget } from '../formats/wire/secret-target.ts';
import { SHORTEST_BEGINNING } from '../formats/wire/text-search.ts';
import type { ValidRequest } from './validate-request.ts';

/** A shorter text is no secret and would match ordinary text. */
export const MIN_CREDENTIAL_CHARS = SHORTEST_BEGINNING;
const MAX_CREDENTIALS = 64;
/** Characters of base64 that addresses escape. */
const NEEDS_ESCAPES = /[^\w.~%-]/;
/** Browser clients cannot set headers and send a key as an offered protocol: `…-api-key.sk-…`. */
const BASIC = /^basic\s/i;
const KEY_PROTOCOL = /^[a-z-]{1,40}(?:key|token)\./;

/** `signed`: the flat headers that the gateway signed; empty otherwise. Longest first. */
export function listCredentials(
  {
    names,
    rawHeaders,
    path,
    query,
    addressToken,
  }: Pick<ValidRequest, 'names' | 'rawHeaders' | 'path' | 'query' | 'addressToken'>,
  signed: readonly string[],
): readonly string[] {
  const found: string[] = [];
  for (let index = 0; index < names.length; index += 1)
    if (names[index]?.isSecret === true) addHeader(found, names[index]?.lower ?? '', rawHeaders[index * 2 + 1] ?? '');
  for (let index = 0; index < signed.length; index += 2) {
    const lower = signed[index]?.toLowerCase() ?? '';
    if (isSecretName(lower)) addHeader(found, lower, signed[index + 1] ?? '');
  }
  if (addressToken !== null) found.push(addressToken.text);
  if (query !== '') addQuery(found, query);
  found.push(...listInTarget(path, query));
  const long = [...new Set(found.filter((text) => text.length >= MIN_CREDENTIAL_CHARS))];
  if (long.length > 1) long.sort((a, b) => b.length - a.length);
  const longest = long.length > MAX_CREDENTIALS ? long.slice(0, MAX_CREDENTIALS) : long;
  return longest.some((text) => NEEDS_ESCAPES.test(text)) ? [...new Set(longest.flatMap(withSpellings))] : longest;
}

/** As it may occur in an answer: plain, in an address, and in JSON with more escapes than needed. */
function withSpellings(text: string): readonly string[] {
  if (!NEEDS_ESCAPES.test(text)) return [text];
  const escaped = text.replaceAll(/[&'<=>]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
  return [text, encodeURIComponent(text), text.replaceAll('/', '\\/'), escaped];
}

function addHeader(found: string[], lower: string, value: string): void {
  if (lower === 'cookie') {
    for (const pair of value.split(';')) found.push(pair.slice(pair.indexOf('=') + 1).trim());
  } else if (lower === 'sec-websocket-protocol') {
    for (const item of value.split(',')) {
      const name = item.trim();
      const prefix = KEY_PROTOCOL.exec(name)?.[0];
      if (prefix !== undefined) found.push(name.slice(prefix.length));
    }
  } else if (value.startsWith('AWS4-')) {
    for (const part of [/Signature=([^,\s]+)/, /Credential=([^/,\s]+)/]) found.push(part.exec(value)?.[1] ?? '');
  } else {
    const text = value.trim();
    const secret = text.slice(text.lastIndexOf(' ') + 1);
    found.push(secret);
    if (BASIC.test(text)) found.push(...readBasic(secret));
  }
}

/** Each half too: a key may stand as the user name, with an empty password. */
function readBasic(encoded: string): readonly string[] {
  const pair = Buffer.from(encoded, 'base64').toString('latin1');
  const colon = pair.indexOf(':');
  return colon === -1 ? [pair] : [pair, pair.slice(0, colon), pair.slice(colon + 1)];
}

function addQuery(found: string[], query: string): void {
  for (const parameter of query.split(/[&;]/)) {
    const equals = parameter.indexOf('=');
    if (equals <= 0 || !isSecretName(decodeParameterName(parameter.slice(0, equals)))) continue;
    const value = parameter.slice(equals + 1);
    found.push(value, decodeParameterName(value));
  }
}
