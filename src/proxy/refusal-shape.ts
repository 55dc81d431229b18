/** In whose shape a request is refused: typed clients read `error.code` as a word, or as a number, and nothing else. */
import type { RequestLine } from '../providers/provider.ts';
import { inferProvider, PROVIDERS, readProviderName } from '../providers/registry.ts';
import type { ClientRequest } from './client-exchange.ts';

/** Of any request, also one that was refused before it was understood. */
export function takesNumericCode(incoming: ClientRequest): boolean {
  const header = (lower: string) => readHeader(incoming, lower);
  const [path = '', query = ''] = (incoming.url ?? '').replace(/^https?:\/\/[^/?#]*/i, '').split('?', 2);
  const line: RequestLine = { method: incoming.method ?? '', path, query, header };
  const name = readProviderName(header('x-gateway-provider') ?? '');
  const provider = name === null ? inferProvider(line, null)?.provider : PROVIDERS[name];
  return provider?.hasNumericErrors?.(path) === true;
}

function readHeader({ rawHeaders }: ClientRequest, lower: string): string | undefined {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === lower);
  return at === -1 ? undefined : rawHeaders[at + 1];
}
