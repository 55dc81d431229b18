/** The address of a listener, as text. */
import { isIP } from 'node:net';

/** `http://127.0.0.1:4141`: how a program on this machine reaches what listens there. */
export function formatOrigin(host: string, port: number, scheme: 'http' | 'https' = 'http'): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${scheme}://${isIP(reachable) === 6 ? `[${reachable}]` : reachable}:${port}`;
}
