/** Decides the error's shape: typed clients expect `error.code` as a word, or as a number. */
import type { RequestLine } from '../providers/provider.ts';
import { inferProvider, PROVIDERS, readProviderName } from '../providers/registry.ts';
import type { ClientRequest } from './client-exchange.ts';

/** Works for requests that were refused before they were understood. */
export function takesNumericCode(incoming: ClientRequest): boolean {
  const header = (lower: string) => readRawHeader(incoming, lower);
  const [path = '', query = ''] = (incoming.url ?? '').replace(/^https?:\/\/[^/?#]*/i, '').split('?', 2);
  const line: RequestLine = { method: incoming.method ?? '', path, query, header };
  const name = readProviderName(header('x-gateway-provider') ?? '');
  const provider = name === null ? inferProvider(line, null)?.provider : PROVIDERS[name];
  return provider?.hasNumericErrors?.(path) === true;
}

/** Returns the first of several. `lower` is in lower case. */
export function readRawHeader({ rawHeaders }: ClientRequest, lower: string): string | undefined {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === lower);
  return at === -1 ? undefined : rawHeaders[at + 1];
}
