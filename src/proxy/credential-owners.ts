/**
 * Whose credentials a request carries, where their form or their header tells: a credential never goes to a provider
 * that did not give it out. Values are looked at and let go of; none is kept or named.
 */
import type { ProviderName } from '../call-record.ts';
import { GatewayError } from '../errors.ts';
import { findCredentialOwner, PROVIDERS } from '../providers/registry.ts';
import { decodeParameterName } from '../wire/secret-name.ts';
import type { AcceptedRequest } from './accept.ts';

export interface CarriedCredential {
  readonly owner: ProviderName;
  /** The header, in lower case; null in the query. */
  readonly header: string | null;
}

const NONE: readonly CarriedCredential[] = Object.freeze([]);

/** A scheme and its token, several values, pairs of a cookie, quotes. */
const BETWEEN = /[\s,;="']+/;
/** How clients in browsers, which cannot set headers, send a key: as one of the offered protocols, `…-api-key.sk-…`. */
const KEY_PROTOCOL = /^[a-z-]{1,40}(?:key|token)\./;
/** Digests, ids of sessions and of retries look like a key of digits only: such a one counts where a key must stand. */
const DIGITS = /^[\da-f]+$/;
const KEY_NAME = /^(?:authorization|(?:x-)?(?:goog-)?api[-_]?key|key)$/;
const BASIC = /^\s*basic\s+([\w+/=-]+)\s*$/i;

const HEADER_OWNERS: ReadonlyMap<string, ProviderName> = new Map(
  Object.values(PROVIDERS).flatMap(({ name, credentialHeader }) =>
    credentialHeader === undefined ? [] : [[credentialHeader, name]],
  ),
);

/** Of what is passed on: the gateway's own headers and those of this hop carry none of a provider. */
export function readCarriedCredentials({ names, rawHeaders, query }: AcceptedRequest): readonly CarriedCredential[] {
  let carried: CarriedCredential[] | null = null;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index];
    if (name?.isSecret !== true || name.use !== 'forward') continue;
    for (const owner of ownersOf(name.lower, rawHeaders[index * 2 + 1] ?? '')) {
      carried ??= [];
      carried.push({ owner, header: name.lower });
    }
  }
  if (query !== '') {
    for (const parameter of query.split(/[&;]/)) {
      const equals = parameter.indexOf('=');
      const name = decodeParameterName(parameter.slice(0, Math.max(equals, 0))).toLowerCase();
      const owner = findOwner(name, decodeParameterName(parameter.slice(equals + 1)));
      if (owner === null) continue;
      carried ??= [];
      carried.push({ owner, header: null });
    }
  }
  return carried ?? NONE;
}

/** `name` of the header or parameter, in lower case. */
function findOwner(name: string, text: string): ProviderName | null {
  return DIGITS.test(text) && !KEY_NAME.test(name) ? null : findCredentialOwner(text);
}

function ownersOf(header: string, value: string): readonly ProviderName[] {
  // A signature is none: whether it holds at a provider is asked by itself.
  if (/^\s*AWS4-/i.test(value)) return [];
  const owners: ProviderName[] = [];
  const pair = BASIC.exec(value)?.[1];
  const pieces = pair === undefined ? value.split(BETWEEN) : Buffer.from(pair, 'base64').toString('latin1').split(':');
  for (const piece of pieces) {
    const owner =
      findOwner(header, piece) ?? findOwner('key', KEY_PROTOCOL.test(piece) ? piece.replace(KEY_PROTOCOL, '') : '');
    if (owner !== null) owners.push(owner);
  }
  // Whatever it looks like: nobody else would read it there.
  const reader = owners.length === 0 && value.trim() !== '' ? HEADER_OWNERS.get(header) : undefined;
  if (reader !== undefined) owners.push(reader);
  return owners;
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
