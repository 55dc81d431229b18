/** Finds whose credentials a request carries, so that none reaches another provider. Keeps and names no value. */

import { decodeParameterName, decodePercent, isSecretName } from '../formats/wire/secret-name.ts';
import { listDecodings } from '../formats/wire/secret-target.ts';
import { findCredentialOwner, listCredentialPlaces, mayHoldCredential, PROVIDERS } from '../providers/registry.ts';
import type { ProviderName } from '../vocabulary/call-record.ts';
import { GatewayError } from '../vocabulary/errors.ts';
import { isUuid } from '../vocabulary/uuid.ts';
import type { ValidRequest } from './validate-request.ts';

export interface CarriedCredential {
  readonly owner: ProviderName;
  readonly header: string | null;
}

type Head = Pick<ValidRequest, 'names' | 'rawHeaders'>;

const NONE: readonly CarriedCredential[] = Object.freeze([]);

const MAX_FORM_CHARS = 256;
/** With the characters of base64 and without, since `sk-…/` may mean either. */
const RUNS = [/^[\w.+/=~-]*/, /^[\w.~-]*/] as const;
const PAIR_NAME = /^[\w.~-]+=(?:"\w|[\w%.~-])/;
/** Required where no name marks the text as a secret: what nobody would write otherwise. */
const UNMISTAKABLE = /^(?=.*[\dA-Z]).{12}/;
const MIN_UNMISTAKABLE_CHARS = 12;
/** Browser clients cannot set headers and send a key as an offered protocol: `…-api-key.sk-…`. */
const KEY_PROTOCOL = /(?<![\w.-])[a-z-]{1,40}(?:key|token)\.$/;
const MAX_PROTOCOL_CHARS = 64;
/** Digests and ids look like a key of hex digits; such a text counts only where a key must stand. */
const DIGITS = /^[\da-f]+$/;
const KEY_NAME = /^(?:authorization|(?:x-)?(?:goog-)?api[-_]?key|key)$/;
const BASIC = /(?:^|[\s,])basic\s+([\w+/=-]+)/gi;

const HEADER_OWNERS: ReadonlyMap<string, ProviderName> = new Map(
  Object.values(PROVIDERS).flatMap(({ name, credential }) =>
    credential.isHeaderItsOwn === true ? [[credential.header, name]] : [],
  ),
);

/** Reads the secret headers, query and path; the gateway's own and hop-by-hop headers carry none. */
export function readNamedCredentials(
  request: Head & Pick<ValidRequest, 'path' | 'query'>,
): readonly CarriedCredential[] {
  const inTarget = [...ownersInQuery(request.query), ...ownersInPath(request.path)];
  return [...readHeaders(request, true), ...inTarget.map((owner) => ({ owner, header: null }))];
}

/** Reads the other headers, where only an unmistakable text is a credential. */
export function readUnnamedCredentials(request: Head): readonly CarriedCredential[] {
  return readHeaders(request, false);
}

function readHeaders({ names, rawHeaders }: Head, isSecret: boolean): readonly CarriedCredential[] {
  let carried: CarriedCredential[] | null = null;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index];
    if (name?.use !== 'forward' || name.isSecret !== isSecret) continue;
    for (const owner of ownersOf(name.lower, isSecret, rawHeaders[index * 2 + 1] ?? '')) {
      carried ??= [];
      carried.push({ owner, header: name.lower });
    }
  }
  return carried ?? NONE;
}

const NOBODY: readonly ProviderName[] = Object.freeze([]);

function ownersInQuery(query: string): readonly ProviderName[] {
  if (query === '' || !mayTargetHold(query)) return NOBODY;
  return query.split(/[&;]/).flatMap((parameter) => {
    const equals = parameter.indexOf('=');
    const name = decodeParameterName(parameter.slice(0, Math.max(equals, 0))).toLowerCase();
    const isSecret = equals <= 0 || isSecretName(name);
    const values = listDecodings(parameter.slice(equals + 1).replaceAll('+', ' '));
    // The whole parameter too: base64 may end in `=`, and its `+` is no space.
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
  const owners = isSecret || mayTellOwner(value) ? ownersInHeader(header, isSecret, value) : NOBODY;
  // Only the owner of this header would read it, whatever it looks like.
  const reader = owners.length === 0 && value.trim() !== '' ? HEADER_OWNERS.get(header) : undefined;
  return reader === undefined ? owners : [reader];
}

/** Ids of sessions and requests are mostly UUIDs, and no provider issues such a credential. */
function mayTellOwner(value: string): boolean {
  return !isUuid(value) && mayHoldCredential(value);
}

function ownersInHeader(header: string, isSecret: boolean, value: string): readonly ProviderName[] {
  // AWS signatures are checked elsewhere.
  const name = /^\s*AWS4-/i.test(value) ? '' : header;
  const owners = ownersIn(name, isSecret, value);
  const hasBasic = /basic\s/i.test(value);
  const hasEscapes = value.includes('%');
  if (!hasBasic && !hasEscapes) return owners;
  const decoded = hasEscapes ? [decodePercent(value)] : [];
  if (hasBasic)
    for (const [, pair = ''] of value.matchAll(BASIC)) decoded.push(Buffer.from(pair, 'base64').toString('latin1'));
  return [...owners, ...decoded.flatMap((text) => ownersIn(name, isSecret, text))];
}

function ownersIn(name: string, isSecret: boolean, text: string): readonly ProviderName[] {
  let owners: ProviderName[] | null = null;
  for (const place of listCredentialPlaces(text)) {
    const isOfProtocol =
      text[place - 1] === '.' && KEY_PROTOCOL.test(text.slice(Math.max(0, place - MAX_PROTOCOL_CHARS), place));
    // After a dot or a dash it is a part of something else, such as random text in a token.
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

/** The gateway's own: keys, run tokens, read and API tokens. */
const OWN_TOKEN = /(?<!\w)tg[akmrs]_\w{12}/;

/** Throws `credential_of_other_provider` where a token of the gateway stands where a provider would read a credential. */
export function requireNoOwnToken({ names, rawHeaders, query }: Head & Pick<ValidRequest, 'query'>): void {
  const at = names.findIndex(
    ({ use, isSecret }, index) => use === 'forward' && isSecret && OWN_TOKEN.test(rawHeaders[index * 2 + 1] ?? ''),
  );
  if (at === -1 && !OWN_TOKEN.test(query)) return;
  const place = names[at]?.lower ?? 'the query';
  throw new GatewayError('credential_of_other_provider', {
    detail: `${place} holds a token of this gateway, which no provider knows; a gateway key belongs in X-Gateway-Key alone`,
  });
}

/** The one owner of all of them; null when there is none or they disagree. */
export function findOnlyOwner(carried: readonly CarriedCredential[]): ProviderName | null {
  const owner = carried[0]?.owner ?? null;
  return carried.every((credential) => credential.owner === owner) ? owner : null;
}

/** Throws `credential_of_other_provider`. A null `receiver` is the operator's own server, which may take any. */
export function requireOwnCredentials(carried: readonly CarriedCredential[], receiver: ProviderName | null): void {
  if (receiver === null) return;
  const stranger = carried.find(({ owner }) => owner !== receiver);
  if (stranger === undefined) return;
  throw new GatewayError('credential_of_other_provider', {
    detail: `a credential of ${stranger.owner}, and the call is for ${receiver}; X-Gateway-Provider: ${stranger.owner} sends it there`,
  });
}
