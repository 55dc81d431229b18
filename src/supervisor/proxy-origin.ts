/** The addresses of listeners, for people and programs on this machine. */
import { isIP } from 'node:net';
import type { Config } from '../vocabulary/config.ts';

const ANY_HOST = ['0.0.0.0', '::'];

/** `http://127.0.0.1:4141`: how a program on this machine reaches what listens there. */
export function formatOrigin(host: string, port: number, scheme: 'http' | 'https' = 'http'): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${scheme}://${isIP(reachable) === 6 ? `[${reachable}]` : reachable}:${port}`;
}

/** The public base address, or one that works on this machine. `names`: the certificate's hosts. */
export function proxyOrigin(
  { publicUrl, host, port, tls }: Pick<Config, 'publicUrl' | 'host' | 'port' | 'tls'>,
  names: readonly string[],
): string {
  if (publicUrl !== null) return publicUrl;
  if (tls === null) return formatOrigin(host, port);
  // Clients refuse a host that the certificate does not name.
  const near = host.startsWith('127.') || host === '::1' || ANY_HOST.includes(host) ? ['127.0.0.1', 'localhost'] : [];
  const known = [host, ...near].find((name) => names.includes(name)) ?? names.find((name) => !name.startsWith('*'));
  return formatOrigin(known ?? host, port, 'https');
}
