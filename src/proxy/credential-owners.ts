/**
 * Whose credentials a request carries, where their form or their header tells: a credential never goes to a provider
 * that did not give it out. Values are looked at and let go of; none is kept or named.
 */
import type { ProviderName } from '../call-record.ts';
import { GatewayError } from '../errors.ts';
import { findCredentialOwner, listCredentialPlaces, mayHoldCredential, PROVIDERS } from '../providers/registry.ts';
import { decodeParameterName, decodePercent, isSecretName } from '../wire/secret-name.ts';
import { listDecodings } from '../wire/secret-target.ts';
import type { AcceptedRequest } from './accept.ts';

export interface CarriedCredential {
  readonly owner: ProviderName;
  /** The header, in lower case; null in the target. */
  readonly header: string | null;
}

const NONE: readonly CarriedCredential[] = Object.freeze([]);

/** A longer one tells by how it begins. */
const MAX_FORM_CHARS = 256;
/** With the characters of base64, and without: who reads `sk-…/` may mean either. */
const RUNS = [/^[\w.+/=~-]*/, /^[\w.~-]*/] as const;
/** Of a cookie or a parameter, and not its value. */
const PAIR_NAME = /^[\w.~-]+=(?:"\w|[\w%.~-])/;
/** Where no name says that it is a secret, only what nobody would write otherwise. */
const UNMISTAKABLE = /^(?=.*[\dA-Z]).{12}/;
const MIN_UNMISTAKABLE_CHARS = 12;
/** How clients in browsers, which cannot set headers, send a key: as one of the offered protocols, `…-api-key.sk-…`. */
const KEY_PROTOCOL = /(?<![\w.-])[a-z-]{1,40}(?:key|token)\.$/;
const MAX_PROTOCOL_CHARS = 64;
/** Digests, ids of sessions and of retries look like a key of digits only: such a one counts where a key must stand. */
const DIGITS = /^[\da-f]+$/;
const KEY_NAME = /^(?:authorization|(?:x-)?(?:goog-)?api[-_]?key|key)$/;
const BASIC = /(?:^|[\s,])basic\s+([\w+/=-]+)/gi;

const HEADER_OWNERS: ReadonlyMap<string, ProviderName> = new Map(
  Object.values(PROVIDERS).flatMap(({ name, credentialHeader }) =>
    credentialHeader === undefined ? [] : [[credentialHeader, name]],
  ),
);

/** Of what is passed on before the body: the gateway's own headers and those of this hop carry none of a provider. */
export function readCarriedCredentials({
  names,
  rawHeaders,
  path,
  query,
}: AcceptedRequest): readonly CarriedCredential[] {
  let carried: CarriedCredential[] | null = null;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index];
    if (name?.use !== 'forward') continue;
    for (const owner of ownersOf(name.lower, name.isSecret, rawHeaders[index * 2 + 1] ?? '')) {
      carried ??= [];
      carried.push({ owner, header: name.lower });
    }
  }
  for (const owners of [ownersInQuery(query), ownersInPath(path)])
    for (const owner of owners) {
      carried ??= [];
      carried.push({ owner, header: null });
    }
  return carried ?? NONE;
}

const NOBODY: readonly ProviderName[] = Object.freeze([]);

function ownersInQuery(query: string): readonly ProviderName[] {
  if (query === '' || !mayTargetHold(query)) return NOBODY;
  return query.split(/[&;]/).flatMap((parameter) => {
    const equals = parameter.indexOf('=');
    const name = decodeParameterName(parameter.slice(0, Math.max(equals, 0))).toLowerCase();
    // A text without a name is one that a key's clients made.
    const isSecret = equals <= 0 || isSecretName(name);
    const values = listDecodings(parameter.slice(equals + 1).replaceAll('+', ' '));
    // As base64 the whole may have its signs at the end, and a plus that is none of a form.
    return [...values, parameter].flatMap((value) => ownersIn(name, isSecret, value));
  });
}

function ownersInPath(path: string): readonly ProviderName[] {
  if (!mayTargetHold(path)) return NOBODY;
  return listDecodings(path).flatMap((text) => ownersIn('', false, text));
}

function mayTargetHold(text: string): boolean {
  return text.includes('%') || mayHoldCredential(text);
}

function ownersOf(header: string, isSecret: boolean, value: string): readonly ProviderName[] {
  if (!isSecret && value.length < MIN_UNMISTAKABLE_CHARS) return NOBODY;
  const owners = isSecret || mayHoldCredential(value) ? ownersInHeader(header, isSecret, value) : NOBODY;
  // Whatever it looks like: nobody else would read it there.
  const reader = owners.length === 0 && value.trim() !== '' ? HEADER_OWNERS.get(header) : undefined;
  return reader === undefined ? owners : [reader];
}

function ownersInHeader(header: string, isSecret: boolean, value: string): readonly ProviderName[] {
  // A signature is none: whether it holds at a provider is asked by itself.
  const name = /^\s*AWS4-/i.test(value) ? '' : header;
  const owners = ownersIn(name, isSecret, value);
  const hasBasic = /basic\s/i.test(value);
  if (!hasBasic && !value.includes('%')) return owners;
  const decoded = value.includes('%') ? [decodePercent(value)] : [];
  if (hasBasic)
    for (const [, pair = ''] of value.matchAll(BASIC)) decoded.push(Buffer.from(pair, 'base64').toString('latin1'));
  return [...owners, ...decoded.flatMap((text) => ownersIn(name, isSecret, text))];
}

/** `name` of the header or parameter, in lower case. */
function ownersIn(name: string, isSecret: boolean, text: string): readonly ProviderName[] {
  let owners: ProviderName[] | null = null;
  for (const place of listCredentialPlaces(text)) {
    const isOfProtocol =
      text[place - 1] === '.' && KEY_PROTOCOL.test(text.slice(Math.max(0, place - MAX_PROTOCOL_CHARS), place));
    // Behind a dot or a dash it is a part of something else, such as random text in a token.
    if (!isOfProtocol && /[.-]/.test(text[place - 1] ?? '')) continue;
    const owner = ownerOf(
      isOfProtocol ? 'key' : name,
      isSecret || isOfProtocol,
      text.slice(place, place + MAX_FORM_CHARS),
    );
    if (owner === null) continue;
    owners ??= [];
    owners.push(owner);
  }
  return owners ?? NOBODY;
}

/** `text` begins with it, if at all. */
function ownerOf(name: string, isSecret: boolean, text: string): ProviderName | null {
  if (PAIR_NAME.test(text)) return null;
  for (const run of RUNS) {
    const piece = run.exec(text)?.[0] ?? '';
    if (!isSecret && !UNMISTAKABLE.test(piece)) continue;
    const owner = DIGITS.test(piece) && !KEY_NAME.test(name) ? null : findCredentialOwner(piece);
    if (owner !== null) return owner;
  }
  return null;
}

/** The one owner of all of them; null where none tells, or they do not agree. */
export function findOnlyOwner(carried: readonly CarriedCredential[]): ProviderName | null {
  const owner = carried[0]?.owner ?? null;
  return carried.every((credential) => credential.owner === owner) ? owner : null;
}

/** `receiver` is who would get them; null for a server of the operator's own, which may take any. */
export function requireOwnCredentials(carried: readonly CarriedCredential[], receiver: ProviderName | null): void {
  if (receiver === null) return;
  const stranger = carried.find(({ owner }) => owner !== receiver);
  if (stranger === undefined) return;
  throw new GatewayError('credential_of_other_provider', {
    detail: `a credential of ${stranger.owner}, and the call is for ${receiver}; X-Gateway-Provider: ${stranger.owner} sends it there`,
  });
}
