/**
 * Where does the call go? Provider by `X-Gateway-Provider`, else by the credential, the client or the path; origin from
 * the provider's own table or the operator's settings (from the request only where it is signed for a host of AWS's);
 * path as received, after the provider's documented mapping.
 */
import type { ProviderName } from '../call-record.ts';
import type { AwsSigning, Config, LeadingRule, UpstreamConfig } from '../config.ts';
import { GatewayError } from '../errors.ts';
import type { Endpoint, Provider, RequestLine } from '../providers/provider.ts';
import {
  type InferredProvider,
  inferByPath,
  inferProvider,
  PROVIDERS,
  readProviderName,
} from '../providers/registry.ts';
import { hideInTarget } from '../wire/secret-target.ts';
import type { AcceptedRequest } from './accept.ts';
import { readClientSignature, requireHoldingSignature } from './aws/client-signature.ts';
import { isReplacedBySigning, withoutSignature } from './aws/sign-request.ts';
import {
  type CarriedCredential,
  findOnlyOwner,
  readCarriedCredentials,
  requireOwnCredentials,
} from './credential-owners.ts';
import type { GatewayHeaders } from './gateway-headers.ts';
import { hideSent } from './hide-sent.ts';
import { readUpstreamHost, readUpstreamPlace } from './upstream-place.ts';

export interface Route {
  readonly provider: Provider;
  readonly endpoint: Endpoint;
  /** The request as it goes upstream, less the prefix of a configured address. */
  readonly mapped: RequestLine;
  /** Scheme, host and port. */
  readonly origin: string;
  /** The operator chose the origin. */
  readonly mayBePrivate: boolean;
  /** Path and query to send. */
  readonly path: string;
  /** Path and query as received, secrets replaced, for the log. */
  readonly loggedPath: string;
  readonly region: string | null;
  readonly isRepaired: boolean;
  /** What to send as `Host` where it is not the origin's; null otherwise. */
  readonly host: string | null;
  /** Set: the call is signed by the gateway. */
  readonly signing: AwsSigning | null;
  /** True when the client's own signature must hold at the provider, so that not a byte may change. */
  readonly isSignedByClient: boolean;
  /** Redirects to another host. */
  readonly redirects: LeadingRule['redirects'];
  /**
   * The upstream's address, and the gateway's as the client knows it, which takes its place in answers; null: in none.
   */
  readonly addresses: { readonly from: string; readonly to: string } | null;
}

export type RouteSettings = Pick<Config, 'upstreams' | 'aliases'> &
  Partial<Pick<Config, 'leading' | 'publicUrl' | 'tls'>>;

const AS_THEY_ARE: LeadingRule = { redirects: 'refuse', addresses: 'keep' };

export function chooseRoute(request: AcceptedRequest, headers: GatewayHeaders, settings: RouteSettings): Route {
  const { method, query, hasQuery, header } = request;
  const carried = readCarriedCredentials(request);
  const { provider, repairedPath } = chooseProvider(request, headers, carried, settings);
  const alias = findAlias(provider.name, headers.providerAlias, settings);
  const upstream = alias ?? settings.upstreams[provider.name] ?? null;
  const signing = upstream?.aws ?? null;
  if (carried.length > 0) {
    // What the gateway's own signature replaces goes nowhere.
    const sent = signing === null ? carried : carried.filter((credential) => !isReplacedBySigning(credential.header));
    requireOwnCredentials(sent, readReceiver(provider.name, alias, upstream));
  }
  const signature = signing === null ? readClientSignature(request) : null;
  const signedHost =
    signature === null ? null : requireHoldingSignature(signature, request, provider.signedServices, upstream);
  // Who signs for the provider's host sends the provider's path.
  const mapped = signedHost === null ? provider.mapPath(repairedPath ?? request.path) : request.path;
  const region =
    signedHost?.region ??
    signing?.region ??
    provider.region(request) ??
    upstream?.region ??
    readUpstreamPlace(provider, upstream, alias !== null) ??
    provider.defaultRegion;
  const ownOrigin = signedHost === null ? provider.origin(region) : `https://${signedHost.name}`;
  const { origin, prefix } = splitOrigin(upstream?.origin ?? ownOrigin);
  if (signature !== null && (repairedPath !== null || prefix !== '')) throw new GatewayError('signature_path');
  const path = hasQuery ? `${prefix}${mapped}?${query}` : prefix + mapped;
  const leading = readLeadingRule(provider.name, alias === null ? null : headers.providerAlias, settings);
  const line: RequestLine = { method, path: mapped, query, header };
  return {
    provider,
    endpoint: provider.endpoint(line),
    mapped: line,
    origin,
    mayBePrivate: upstream !== null && upstream.isBuiltIn !== true,
    path: signing === null ? path : withoutSignature(path),
    loggedPath: hideSent(hideInTarget(request.path, hasQuery ? query : null), headers.sent),
    region,
    isRepaired: repairedPath !== null,
    host: signing?.host ?? (signedHost === null ? null : (header('host') ?? null)),
    signing,
    isSignedByClient: signature !== null,
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

/** An alias has rules of its own. */
function readLeadingRule(provider: ProviderName, alias: string | null, { leading = {} }: RouteSettings): LeadingRule {
  const name = alias?.toLowerCase() ?? '';
  const rules = leading[provider] ?? {};
  return (Object.hasOwn(rules, name) ? rules[name] : undefined) ?? AS_THEY_ARE;
}

/**
 * Who gets what is sent: by the host, where it is one of the seven's; null where the operator chose a server of their
 * own.
 */
function readReceiver(
  provider: ProviderName,
  alias: UpstreamConfig | null,
  upstream: UpstreamConfig | null,
): ProviderName | null {
  const owner = upstream === null ? provider : readUpstreamHost(upstream).owner;
  return owner ?? (alias === null ? provider : null);
}

function chooseProvider(
  request: AcceptedRequest,
  { provider: named, providerAlias }: GatewayHeaders,
  carried: readonly CarriedCredential[],
  settings: RouteSettings,
): InferredProvider {
  if (named !== undefined) {
    const name = readProviderName(named);
    if (name === null) throw new GatewayError('provider_unknown');
    return { provider: PROVIDERS[name], repairedPath: PROVIDERS[name].repairPath(request.path) };
  }
  const owner = findOnlyOwner(carried);
  const inferred = inferProvider(request, owner);
  // An alias that only the path's provider has is meant: the operator's own server takes whatever credential.
  const isAliasElsewhere = inferred === null || !hasAlias(inferred.provider.name, providerAlias, settings);
  const byPath = providerAlias !== null && isAliasElsewhere ? inferByPath(request) : null;
  const chosen = byPath !== null && hasAlias(byPath.provider.name, providerAlias, settings) ? byPath : inferred;
  if (chosen === null) throw new GatewayError('provider_required');
  return chosen;
}

function hasAlias(provider: ProviderName, alias: string | null, settings: RouteSettings): boolean {
  return alias !== null && Object.hasOwn(settings.aliases[provider] ?? {}, alias.toLowerCase());
}

/** Where aliases are configured for the provider, an unknown one is a mistake; where none is, it is only a label. */
function findAlias(provider: ProviderName, alias: string | null, settings: RouteSettings): UpstreamConfig | null {
  const configured = settings.aliases[provider];
  if (alias === null || configured === undefined) return null;
  // Own members only: every object has a `constructor`, and that is nobody's alias.
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
