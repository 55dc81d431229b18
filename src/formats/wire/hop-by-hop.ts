/** Headers of one hop (RFC 9110 7.6.1), and those that a `Connection` header must not remove. */
import { isSecretName } from './secret-name.ts';

const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // Only meaningful beside `Upgrade: h2c` (RFC 7540 3.2.1).
  'http2-settings',
]);

/** `name` in lower case. */
export function isHopByHop(name: string): boolean {
  return HOP_BY_HOP.has(name);
}

const NONE: readonly string[] = [];

/** The lower-case headers that `Connection` names; null when it names a protected one, which is an attack. */
export function readNominated(connection: string): readonly string[] | null {
  if (connection === 'keep-alive') return NONE;
  const names: string[] = [];
  for (const part of connection.split(',')) {
    const name = part.trim().toLowerCase();
    if (name === '' || name === 'close' || name === 'keep-alive') continue;
    const isCredential = isSecretName(name) && !HOP_BY_HOP.has(name);
    if (isCredential || name === 'host' || name.startsWith('content-') || name.startsWith('x-gateway-')) return null;
    names.push(name);
  }
  return names;
}
