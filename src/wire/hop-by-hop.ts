/**
 * The headers that belong to one hop (RFC 9110 7.6.1) and may not be passed on, and those that a `Connection` header
 * must not be able to take away.
 */

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

const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'host']);

const NONE: readonly string[] = [];

/**
 * The further headers that a `Connection` value names as belonging to this hop, in lower case. `null` when it names one
 * that must reach the other side: dropping a credential or a content header at a client's word is an attack.
 */
export function readNominated(connection: string): readonly string[] | null {
  if (connection === 'keep-alive') return NONE;
  const names: string[] = [];
  for (const part of connection.split(',')) {
    const name = part.trim().toLowerCase();
    if (name === '' || name === 'close' || name === 'keep-alive') continue;
    if (CREDENTIALS.has(name) || name.startsWith('content-') || name.startsWith('x-gateway-')) return null;
    names.push(name);
  }
  return names;
}
