/** Chooses the outbound proxy of a connection (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`). Pure. */
import { BlockList, isIP } from 'node:net';

export interface EgressProxies {
  readonly httpProxy: string | null;
  readonly httpsProxy: string | null;
  readonly noProxy: string | null;
}

/** `http(s)://[user:password@]host:port`; a bare `host:port` means http. */
export function readProxyAddress(text: string): URL | null {
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? url : null;
}

/** Null for no proxy. Without an `HTTPS_PROXY` that of HTTP serves both. */
export function chooseProxy({ httpProxy, httpsProxy, noProxy }: EgressProxies, origin: string): URL | null {
  const { protocol, hostname, port } = new URL(origin);
  const proxy = protocol === 'https:' ? (httpsProxy ?? httpProxy) : httpProxy;
  if (proxy === null) return null;
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  const effectivePort = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  const exempt = (noProxy ?? '').toLowerCase().split(/[,\s]+/);
  return exempt.some((entry) => matches(entry, host, effectivePort)) ? null : readProxyAddress(proxy);
}

/** An entry: a host and its subdomains, `.domain`, `*.domain`, an address, a range, `*`; with or without port. */
function matches(entry: string, host: string, port: string): boolean {
  const [, withPort, wantedPort] = /^([^:]+|\[.*\]):(\d+)$/.exec(entry) ?? [];
  if (wantedPort !== undefined && wantedPort !== port) return false;
  const name = (withPort ?? entry).replace(/^\[(.*)\]$/, '$1');
  if (name === '*') return true;
  if (name.includes('/')) return isInRange(host, name);
  const domain = name.replace(/^\*?\./, '');
  if (domain === '') return false;
  return (host === domain && !name.startsWith('*')) || host.endsWith(`.${domain}`);
}

function isInRange(host: string, range: string): boolean {
  const [network = '', bits = ''] = range.split('/');
  const family = isIP(network);
  if (family === 0 || family !== isIP(host) || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return false;
  const kind = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(network, Number(bits), kind);
  return list.check(host, kind);
}
