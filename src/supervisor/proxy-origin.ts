/** The base address that people are told: the public one, or one at which the proxy answers on this machine. */
import type { Config } from '../config.ts';
import { formatOrigin } from '../format-origin.ts';

const ANY_HOST = ['0.0.0.0', '::'];

/** `names`: hosts that the certificate is valid for, where the node has one. */
export function proxyOrigin(
  { publicUrl, host, port, tls }: Pick<Config, 'publicUrl' | 'host' | 'port' | 'tls'>,
  names: readonly string[],
): string {
  if (publicUrl !== null) return publicUrl;
  if (tls === null) return formatOrigin(host, port);
  // A client that is led to a host of which the certificate knows nothing would refuse it.
  const near = host.startsWith('127.') || host === '::1' || ANY_HOST.includes(host) ? ['127.0.0.1', 'localhost'] : [];
  const known = [host, ...near].find((name) => names.includes(name)) ?? names.find((name) => !name.startsWith('*'));
  return formatOrigin(known ?? host, port, 'https');
}
