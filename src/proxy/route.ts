/**
 * Chooses the provider by header, credential, client or path; the origin by its own table or the settings (by the
 * request only where that is signed for an AWS host); and the path by the provider's documented mapping.
 */

import type { InferredProvider } from '../providers/create-registry.ts';
import type { Endpoint, Provider, RequestLine } from '../providers/provider.ts';
import { inferByPath, inferProvider, PROVIDERS, readProviderName } from '../providers/registry.ts';
import type { ProviderName } from '../vocabulary/call-record.ts';
import type { Config, LeadingRule, UpstreamConfig } from '../vocabulary/config.ts';
import { GatewayError } from '../vocabulary/errors.ts';
import { type CallSignature, readCallSignature } from './aws/call-signature.ts';
import { isReplacedBySigning, withoutSignature } from './aws/sign-request.ts';
import {
  type CarriedCredential,
  findOnlyOwner,
  readUnnamedCredentials,
  requireNoOwnToken,
  requireOwnCredentials,
} from './credential-owners.ts';
import type { GatewayHeaders } from './gateway-headers.ts';
import { redactSent } from './redact-sent.ts';
import { readUpstreamPlace, type UpstreamHosts } from './upstream-place.ts';
import type { ValidRequest } from './validate-request.ts';

export interface Route {
  readonly provider: Provider<ProviderName>;
  readonly endpoint: Endpoint;
  /** The configured one, in lower case; null for the provider's own upstream, whatever the label. */
  readonly alias: string | null;
  /** The upstream request without a configured address's prefix. */
  readonly mapped: RequestLine;
  readonly origin: string;
  readonly mayBePrivate: boolean;
  readonly path: string;
  /** As received, secrets replaced, for the log. */
  readonly loggedPath: string;
  readonly region: string | null;
  readonly isRepaired: boolean;
  readonly signature: CallSignature;
  readonly redirects: LeadingRule['redirects'];
  /** The upstream's address and the gateway's that replaces it in answers; null when none is replaced. */
  readonly addresses: { readonly from: string; readonly to: string } | null;
}

export type RouteSettings = Pick<Config, 'upstreams' | 'aliases'> &
  Partial<Pick<Config, 'leading' | 'publicUrl' | 'tls'>>;

const AS_THEY_ARE: LeadingRule = { redirects: 'refuse', addresses: 'keep' };

export function chooseRoute(
  request: ValidRequest,
  headers: GatewayHeaders,
  settings: RouteSettings,
  hosts: UpstreamHosts,
): Route {
  const { method, query, hasQuery, header } = request;
  const { secrets } = headers;
  const unnamed = readUnnamedCredentials(request);
  const carried = unnamed.length === 0 ? secrets.carried : [...secrets.carried, ...unnamed];
  const { provider, repairedPath } = chooseProvider(request, headers, carried, settings);
  const alias = findAlias(provider.name, headers.providerAlias, settings);
  const upstream = alias ?? settings.upstreams[provider.name] ?? null;
  const isSigned = upstream?.aws !== undefined;
  const receiver = readReceiver(provider.name, alias, upstream, hosts);
  if (carried.length > 0) {
    // Credentials that the gateway's signature replaces are not sent.
    const sent = isSigned ? carried.filter((credential) => !isReplacedBySigning(credential.header)) : carried;
    requireOwnCredentials(sent, receiver);
  }
  if (receiver !== null && !isSigned) requireNoOwnToken(request);
  const signature = readCallSignature(request, secrets.clientSignature, provider, upstream);
  // A client that signs for the provider's host sends the provider's path.
  const mapped = signature.isClients
    ? request.path
    : provider.mapPath(repairedPath ?? request.path, nameOfHost(upstream, hosts));
  const region =
    signature.region ??
    provider.region(request) ??
    upstream?.region ??
    readUpstreamPlace(provider, upstream, alias !== null, hosts) ??
    provider.defaultRegion;
  const { origin, prefix } = splitOrigin(upstream?.origin ?? signature.origin ?? provider.origin(region));
  if (signature.isClients && (repairedPath !== null || prefix !== '')) throw new GatewayError('signature_path');
  const path = hasQuery ? `${prefix}${mapped}?${query}` : prefix + mapped;
  const leading = readLeadingRule(provider.name, alias === null ? null : headers.providerAlias, settings);
  const line: RequestLine = { method, path: mapped, query, header };
  return {
    provider,
    endpoint: provider.endpoint(line),
    alias: alias === null ? null : (headers.providerAlias?.toLowerCase() ?? null),
    mapped: line,
    origin,
    mayBePrivate: upstream !== null && upstream.isBuiltIn !== true,
    path: isSigned ? withoutSignature(path) : path,
    loggedPath: redactSent(secrets.shownTarget, headers.sent),
    region,
    isRepaired: repairedPath !== null,
    signature,
    redirects: leading.redirects,
    addresses:
      leading.addresses === 'keep'
        ? null
        : {
            from: origin + prefix,
            to: settings.publicUrl ?? `${settings.tls ? 'https' : 'http'}://${header('host') ?? ''}`,
          },
  };
}

/** A call that is signed here is for the host of its signature, wherever the address leads. */
function nameOfHost(upstream: UpstreamConfig | null, hosts: UpstreamHosts): string | undefined {
  return upstream === null ? undefined : (upstream.aws?.host ?? hosts.read(upstream).name);
}

function readLeadingRule(provider: ProviderName, alias: string | null, { leading = {} }: RouteSettings): LeadingRule {
  const name = alias?.toLowerCase() ?? '';
  const rules = leading[provider] ?? {};
  return (Object.hasOwn(rules, name) ? rules[name] : undefined) ?? AS_THEY_ARE;
}

/** The provider that owns the receiving host; null for a server of the operator's own. */
function readReceiver(
  provider: ProviderName,
  alias: UpstreamConfig | null,
  upstream: UpstreamConfig | null,
  hosts: UpstreamHosts,
): ProviderName | null {
  const owner = upstream === null ? provider : hosts.read(upstream).owner;
  return owner ?? (alias === null ? provider : null);
}

function chooseProvider(
  request: ValidRequest,
  { provider: named, providerAlias }: GatewayHeaders,
  carried: readonly CarriedCredential[],
  settings: RouteSettings,
): InferredProvider<ProviderName> {
  if (named !== undefined) {
    const name = readProviderName(named);
    if (name === null) throw new GatewayError('provider_unknown');
    return { provider: PROVIDERS[name], repairedPath: PROVIDERS[name].repairPath(request.path) };
  }
  const owner = findOnlyOwner(carried);
  const inferred = inferProvider(request, owner);
  // An alias known only to the path's provider is meant, whatever the credential.
  const isAliasElsewhere = inferred === null || !hasAlias(inferred.provider.name, providerAlias, settings);
  const byPath = providerAlias !== null && isAliasElsewhere ? inferByPath(request) : null;
  const chosen = byPath !== null && hasAlias(byPath.provider.name, providerAlias, settings) ? byPath : inferred;
  if (chosen === null) throw new GatewayError('provider_required');
  return chosen;
}

function hasAlias(provider: ProviderName, alias: string | null, settings: RouteSettings): boolean {
  return alias !== null && Object.hasOwn(settings.aliases[provider] ?? {}, alias.toLowerCase());
}

/** With aliases configured an unknown one is a mistake; otherwise it is only a label. */
function findAlias(provider: ProviderName, alias: string | null, settings: RouteSettings): UpstreamConfig | null {
  const configured = settings.aliases[provider];
  if (alias === null || configured === undefined) return null;
  // Own members only: `constructor` is no alias.
  const name = alias.toLowerCase();
  const found = Object.hasOwn(configured, name) ? configured[name] : undefined;
  if (found === undefined) throw new GatewayError('alias_unknown');
  return found;
}

function splitOrigin(address: string): { origin: string; prefix: string } {
  const start = address.indexOf('/', address.indexOf('://') + 3);
  return start === -1
    ? { origin: address, prefix: '' }
    : { origin: address.slice(0, start), prefix: address.slice(start) };
}
