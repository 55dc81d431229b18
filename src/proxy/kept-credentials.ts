/**
 * Step: gives a call by an alias the credential that the gateway keeps for it, where the call brings none of its own.
 * Costs one comparison while none is kept.
 */
import { sealingKeysOf } from '../keys/envelope.ts';
import { openCredential } from '../keys/sealed-credential.ts';
import type { SealedCredential } from '../vocabulary/channel.ts';
import type { Config } from '../vocabulary/config.ts';
import { GatewayError } from '../vocabulary/errors.ts';
import type { CallContext } from './call-context.ts';
import type { CallLog } from './call-log.ts';
import type { Gateway } from './gateway.ts';
import type { Outbound } from './prepare-body.ts';

/** What clients that must have a key are given instead of one. */
export const PLACEHOLDER = 'kept-by-gateway';

/** Where any provider's clients put a credential; the provider's own header besides. */
const CREDENTIAL_HEADERS: readonly string[] = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'];
const KEY_PARAMETER = /(?:^|&)(?:key|api_key)=[^&]/i;

interface KeptCredential {
  readonly origin: string;
  /** Null: no key opens it. */
  readonly value: string | null;
}

export interface CredentialHolder {
  /** Null while none is kept. */
  current: ReadonlyMap<string, KeptCredential> | null;
}

function nameOf({ accountId, provider, alias }: Pick<SealedCredential, 'accountId' | 'provider' | 'alias'>): string {
  return `${accountId} ${provider} ${alias}`;
}

/** Opens them once, for all calls to come. */
export function applyCredentials(
  holder: CredentialHolder,
  credentials: readonly SealedCredential[],
  keys: Config['credentialKeys'],
): void {
  const opening = sealingKeysOf(keys);
  const opened = credentials.map(
    (one) => [nameOf(one), { origin: one.origin, value: openCredential(opening, one) }] as const,
  );
  holder.current = opened.length === 0 ? null : new Map(opened);
}

function isOwnHeader(call: CallContext, lowerName: string): boolean {
  return CREDENTIAL_HEADERS.includes(lowerName) || lowerName === call.route.provider.credential.header;
}

function isPlaceholder(value: string): boolean {
  const text = value.trim();
  return text.slice(text.lastIndexOf(' ') + 1) === PLACEHOLDER || text === '' || /^(?:bearer|basic)$/i.test(text);
}

/** The headers for the provider; the same array where nothing is kept for the call. Throws `credential_unusable`. */
export function withKeptCredential(
  call: CallContext,
  headers: readonly string[],
  log: CallLog,
  { current }: CredentialHolder,
): readonly string[] {
  const { key, route, request } = call;
  if (current === null || route.alias === null) return headers;
  // A signature is a credential already, the client's also where it stands in the query.
  if (route.signature.signing !== null || route.signature.isClients) return headers;
  const kept = current.get(nameOf({ accountId: key.accountId, provider: route.provider.name, alias: route.alias }));
  if (kept === undefined) return headers;
  const others: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const [name = '', value = ''] = [headers[index], headers[index + 1]];
    if (!isOwnHeader(call, name.toLowerCase())) others.push(name, value);
    else if (!isPlaceholder(value)) return headers;
  }
  if (KEY_PARAMETER.test(request.query)) return headers;
  if (kept.value === null) throw new GatewayError('credential_unusable');
  if (kept.origin !== route.origin)
    throw new GatewayError('credential_unusable', { detail: 'the alias has another address than when it was set' });
  const { header, prefix } = route.provider.credential;
  const added = [header, prefix + kept.value];
  log.redactAlso(added);
  return [...others, ...added];
}

export function addKeptCredential(call: CallContext, outbound: Outbound, log: CallLog, gateway: Gateway): Outbound {
  const headers = withKeptCredential(call, outbound.headers, log, gateway.credentials);
  return headers === outbound.headers ? outbound : { ...outbound, headers };
}
