/** What the product reads from a recorded answer: its endpoint, and its usage as the answer comes in pieces. */

import { USAGE_FORMATS } from '../../src/formats/usage/registry.ts';
import { createUsageReader } from '../../src/formats/usage/usage-reader.ts';
import type { Endpoint, Provider } from '../../src/providers/provider.ts';
import { PROVIDERS } from '../../src/providers/registry.ts';
import type { ReportedUsage } from '../../src/vocabulary/token-usage.ts';
import type { Fixture } from './fixtures.ts';

export function findEndpoint(fixture: Fixture): Endpoint {
  return findEndpointOf(PROVIDERS[fixture.provider], fixture);
}

export function findEndpointOf(provider: Provider, { request }: Fixture<string>): Endpoint {
  const [path = '', query = ''] = request.path.split('?');
  const header = (wanted: string) => request.headers[wanted];
  return provider.endpoint({ method: request.method, path: provider.mapPath(path), query, header });
}

/** `pieces` of its body, or of what stands for it; the answer ends well behind the last one. */
export function readFixture(
  fixture: Fixture,
  pieces: readonly Buffer[],
  contentEncoding: string | null = null,
): Promise<ReportedUsage> {
  return readAnswer(findEndpoint(fixture), fixture, pieces, contentEncoding);
}

export function readAnswer(
  endpoint: Endpoint,
  fixture: Fixture<string>,
  pieces: readonly Buffer[],
  contentEncoding: string | null = null,
): Promise<ReportedUsage> {
  const reader = createUsageReader({
    format: USAGE_FORMATS[endpoint.format],
    status: fixture.status,
    contentType: fixture.headers['content-type'] ?? null,
    contentEncoding,
    header: (name) => fixture.headers[name] ?? null,
    resultId: endpoint.resultId,
  });
  for (const piece of pieces) reader.push(piece);
  return new Promise((resolve) => reader.finish(true, resolve));
}
