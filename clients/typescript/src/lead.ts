/** The one decision: is a request led to the gateway, and with which headers? No library is named here. */
import { placeHeaders } from './headers.ts';
import { isAwsHost, isReport, readProviderOfHost } from './providers.ts';
import type { Settings } from './settings.ts';
import { current } from './state.ts';

/** `headers` are to be added; of those that the request has, none changes but `Host`, which is `host` where it is not null. */
export interface Led {
  /** `http://host:port` of the gateway. */
  readonly origin: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What `Host` is to say, null where that is the address. */
  readonly host: string | null;
  /** Whether the program wanted another address than the gateway's. */
  readonly isElsewhere: boolean;
}

export interface Asked {
  /** With scheme and port. */
  readonly origin: URL;
  /** Path and query as they go over the wire. */
  readonly target: string;
  /** Asks the request for a header by its name in lower case. */
  readonly header: (name: string) => string | undefined;
}

/** Null where the request is none of ours: then nothing of it may change. */
export function lead({ origin, target, header }: Asked): Led | null {
  const { settings } = current;
  if (settings === null) return null;
  if (origin.origin === settings.origin) {
    if (!isUnder(settings.mount, target)) return null;
    const added = missing(settings, target, header);
    return { origin: settings.origin, target, headers: added, host: header('host') ?? null, isElsewhere: false };
  }
  if (origin.protocol !== 'https:' || origin.port !== '') return null;
  const host = origin.hostname;
  const isSigned = (header('authorization') ?? '').startsWith('AWS4-') || target.includes('X-Amz-Signature=');
  const provider = readProviderOfHost(host, isSigned);
  if (provider === null || isReport(provider, target)) return null;
  const added = missing(settings, target, header);
  if (header('x-gateway-provider') === undefined) added['X-Gateway-Provider'] = provider;
  return {
    origin: settings.origin,
    target: `${settings.prefix}${target}`,
    headers: added,
    host: isAwsHost(host) ? (header('host') ?? host) : null,
    isElsewhere: true,
  };
}

function missing(settings: Settings, target: string, header: Asked['header']): Record<string, string> {
  const found = placeHeaders();
  // With a trace id of the user's, the steps here are those of another run.
  if (header('x-gateway-trace-id') !== undefined) delete found['X-Gateway-Span-Path'];
  // A token in the address is a key.
  if (settings.key !== null && !target.startsWith(`${settings.mount}/@`)) found['X-Gateway-Key'] = settings.key;
  return Object.fromEntries(Object.entries(found).filter(([name]) => header(name.toLowerCase()) === undefined));
}

/** What else is at the gateway's host is a stranger. A server may take `..` as it likes, so it is none of the gateway's. */
function isUnder(mount: string, target: string): boolean {
  const path = target.replace(/[?#].*$/s, '');
  return mount === '' || (`${path}/`.startsWith(`${mount}/`) && !/(?:^|\/)(?:\.|%2e){2}(?:\/|$)/i.test(path));
}

/** No connection came about, so nothing was sent. The same codes from a connection that had been made are something else. */
export function isUnreached(error: unknown): boolean {
  if (error === null || typeof error !== 'object' || !('code' in error) || typeof error.code !== 'string') return false;
  const isLater = 'syscall' in error && error.syscall !== 'connect' && error.syscall !== 'getaddrinfo';
  return UNREACHED.has(error.code) && !isLater;
}

const UNREACHED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
