/** Advice for the start when clients on this machine would reach the gateway through a proxy, in clear text. */
import type { Config } from '../../vocabulary/config.ts';

const LOOPBACK = ['127.0.0.1', 'localhost'] as const;

/** Null without a proxy, or when both names of this machine are exempt. */
export function adviseNoProxy({ httpProxy, noProxy }: Config['egress'], allProxy: string | undefined): string | null {
  if (httpProxy === null && (allProxy ?? '') === '') return null;
  const names = (noProxy ?? '').split(/[,\s]+/).map((name) => name.toLowerCase());
  if (names.includes('*') || LOOPBACK.every((name) => names.includes(name))) return null;
  const variable = httpProxy === null ? 'ALL_PROXY' : 'HTTP_PROXY';
  return `${variable} is set: clients on this machine may reach the gateway through that proxy, with their keys in clear text. Set NO_PROXY=${LOOPBACK.join(',')} where they run.`;
}
