/** What the product reads from a recorded answer: its endpoint, and its usage as the answer comes in pieces. */
import type { Endpoint } from '../src/providers/provider.ts';
import { PROVIDERS } from '../src/providers/registry.ts';
import { SHAPES } from '../src/shapes/registry.ts';
import { createUsageReader } from '../src/shapes/usage-reader.ts';
import type { UsageReading } from '../src/token-usage.ts';
import type { Fixture } from './fixtures.ts';

export function findEndpoint({ provider: name, request }: Fixture): Endpoint {
  const [path = '', query = ''] = request.path.split('?');
  const provider = PROVIDERS[name];
  const header = (wanted: string) => request.headers[wanted];
  return provider.endpoint({ method: request.method, path: provider.mapPath(path), query, header });
}

/** `pieces` of its body, or of what stands for it; the answer ends well behind the last one. */
export function readFixture(
  fixture: Fixture,
  pieces: readonly Buffer[],
  contentEncoding: string | null = null,
): Promise<UsageReading> {
  const endpoint = findEndpoint(fixture);
  const reader = createUsageReader({
    shape: SHAPES[endpoint.shape],
    status: fixture.status,
    contentType: fixture.headers['content-type'] ?? null,
    contentEncoding,
    header: (name) => fixture.headers[name] ?? null,
    resultId: endpoint.resultId,
  });
  for (const piece of pieces) reader.push(piece);
  return new Promise((resolve) => reader.finish(true, resolve));
}
