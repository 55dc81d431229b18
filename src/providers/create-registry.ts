/** Questions to all providers: whose name, credential, host or call something is, and what is logged. */
import { UNKNOWN_ENDPOINT } from './endpoint-row.ts';
import { createLoggedHeaders } from './logged-headers.ts';
import type { Provider, RequestLine } from './provider.ts';

export interface InferredProvider<Name extends string> {
  readonly provider: Provider<Name>;
  /** The intended path when the one sent has a common wrong base; null when it was right. */
  readonly repairedPath: string | null;
}

const NOWHERE: readonly number[] = Object.freeze([]);

/** Matches all forms at the beginning of a word. */
function joinForms(providers: readonly Provider[]): RegExp {
  const forms = providers.map(({ credentialForm: { source } }) =>
    source.replace('^', '').replaceAll('$', String.raw`(?!\w)`),
  );
  return new RegExp(String.raw`\b(?:${forms.join('|')})`);
}

function isKnown(provider: Provider, request: RequestLine): boolean {
  return provider.endpoint(withPath(request, provider.mapPath(request.path))).family !== UNKNOWN_ENDPOINT.family;
}

/** Most paths stay, and a copy of a whole request costs more than what it is asked for. */
function withPath(request: RequestLine, path: string): RequestLine {
  return path === request.path ? request : { ...request, path };
}

export function createRegistry<Name extends string>(providers: readonly Provider<Name>[]) {
  const inOrder = providers.toSorted((a, b) => Number(a.claimsTheRest ?? false) - Number(b.claimsTheRest ?? false));
  const byName: ReadonlyMap<string, Provider<Name>> = new Map(providers.map((provider) => [provider.name, provider]));
  const probes: ReadonlySet<string> = new Set(providers.flatMap((provider) => provider.probes ?? []));
  const anyForm = joinForms(inOrder);
  const eachForm = new RegExp(anyForm.source, 'g');

  /** The provider that X-Gateway-Provider names, trimmed and in any case, or null. */
  function readProviderName(text: string): Name | null {
    return byName.get(text.trim().toLowerCase())?.name ?? null;
  }

  /** The owner of a credential by its form; null where several providers issue that form. */
  function findCredentialOwner(text: string): Name | null {
    return inOrder.find(({ credentialForm }) => credentialForm.test(text))?.name ?? null;
  }

  /** Where words begin that may be a credential; `findCredentialOwner` decides. */
  function listCredentialPlaces(text: string): readonly number[] {
    let places: number[] | null = null;
    eachForm.lastIndex = 0;
    for (let match = eachForm.exec(text); match !== null; match = eachForm.exec(text)) {
      places ??= [];
      places.push(match.index);
    }
    return places ?? NOWHERE;
  }

  /** A quick test: false where no part of the text looks like a credential. */
  function mayHoldCredential(text: string): boolean {
    return anyForm.test(text);
  }

  function findHostOwner(host: string): Name | null {
    return inOrder.find((provider) => provider.ownsHost(host))?.name ?? null;
  }

  /** The provider to which the gateway sends at this host by itself. `host` is in lower case, with a port that is not 443. */
  function findDefaultHostOwner(host: string): Name | null {
    const found = inOrder.find(
      ({ origin, otherHosts }) => new URL(origin(null)).host === host || otherHosts?.includes(host) === true,
    );
    return found?.name ?? null;
  }

  /**
   * Infers the provider by credential (`owner`), by what only its clients send, by its own paths, by an SDK's name,
   * else the one that claims the rest. Null when nothing tells (`/openai/v1/…`, `/beta/…`).
   */
  function inferProvider(request: RequestLine, owner: Name | null): InferredProvider<Name> | null {
    const provider = owner === null ? inOrder.find((candidate) => candidate.isOwnClient(request)) : byName.get(owner);
    return provider === undefined ? inferByPath(request) : meant(provider, request);
  }

  function meant(provider: Provider<Name>, { path }: RequestLine): InferredProvider<Name> {
    return { provider, repairedPath: provider.repairPath(path) };
  }

  function inferByPath(request: RequestLine): InferredProvider<Name> | null {
    const byPath = findClaim(request);
    if (byPath !== null && byPath.provider.claimsTheRest !== true) return byPath;
    const userAgent = request.header('user-agent') ?? '';
    const bySdk = inOrder.find(({ isOwnSdk }) => isOwnSdk?.(userAgent, request.path));
    if (bySdk !== undefined) return meant(bySdk, request);
    if (byPath === null) return null;
    const isForeign = isOfAnother(byPath.provider, withPath(request, byPath.repairedPath ?? request.path));
    return isForeign ? null : byPath;
  }

  function findClaim(request: RequestLine): InferredProvider<Name> | null {
    // Repairs come first: `/v1/v1/messages` would otherwise be an ordinary `/v1` path.
    for (const provider of inOrder) {
      const repairedPath = provider.repairPath(request.path);
      if (repairedPath !== null && provider.claims(withPath(request, repairedPath))) return { provider, repairedPath };
    }
    const provider = inOrder.find((candidate) => candidate.claims(request));
    return provider === undefined ? null : { provider, repairedPath: null };
  }

  /** The rest is not `claimant`'s where the key is in a header it does not read, or where only others know the path. */
  function isOfAnother(claimant: Provider<Name>, request: RequestLine): boolean {
    if (request.header('authorization') === undefined && request.header('x-api-key') !== undefined) return true;
    return !isKnown(claimant, request) && inOrder.some((other) => other !== claimant && isKnown(other, request));
  }

  function isProbe(methodAndPath: string): boolean {
    return probes.has(methodAndPath);
  }

  /** The provider of a call whose endpoint is known; null for every other request. */
  function findKnownCall(request: RequestLine): Provider<Name> | null {
    const found = inferProvider(request, null);
    if (found === null) return null;
    const path = found.repairedPath ?? request.path;
    return isKnown(found.provider, withPath(request, path)) ? found.provider : null;
  }

  return {
    isProbe,
    findKnownCall,
    readProviderName,
    findCredentialOwner,
    listCredentialPlaces,
    mayHoldCredential,
    findHostOwner,
    findDefaultHostOwner,
    inferProvider,
    inferByPath,
    ...createLoggedHeaders(providers),
  };
}
