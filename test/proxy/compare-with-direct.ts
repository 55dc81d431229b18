/**
 * The same request once straight to the provider and once through the gateway: what both sides saw, with the
 * differences that docs/transparency.md lists taken out, and nothing else. Whatever is left has to be equal.
 */

import type { RecordedRequest, ScriptedProvider } from '../support/fake-provider.ts';
import { type RawAnswer, readRawAnswer } from '../support/read-raw-answer.ts';
import type { InProcessProxy } from './start-proxy.ts';

/** Headers of one hop, whose value, letter case and position may differ. */
const HOP = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive']);

export interface SeenByProvider {
  readonly requestLine: string;
  readonly headers: readonly string[];
  readonly body: string;
}

export interface SeenByClient {
  readonly statusLine: string;
  readonly headers: readonly string[];
  readonly body: string;
  readonly end: RawAnswer['end'];
}

function withoutHop(rawHeaders: readonly string[], alsoWithout: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (!HOP.has(name.toLowerCase()) && !alsoWithout(name.toLowerCase()))
      kept.push(`${name}: ${rawHeaders[index + 1]}`);
  }
  return kept;
}

export function providerView(request: RecordedRequest): SeenByProvider {
  return {
    requestLine: request.requestLine,
    headers: withoutHop(request.rawHeaders, () => false),
    body: request.body().toString('latin1'),
  };
}

export function clientView(answer: RawAnswer): SeenByClient {
  return {
    statusLine: answer.statusLine,
    headers: withoutHop(answer.rawHeaders, (name) => name === 'x-gateway-request-id'),
    body: answer.body.toString('latin1'),
    end: answer.end,
  };
}

export interface Comparison {
  readonly direct: { readonly provider: SeenByProvider; readonly client: SeenByClient };
  readonly through: { readonly provider: SeenByProvider; readonly client: SeenByClient; readonly requestId: string };
}

/** `head` is the request's head without `Host` and the empty line; the gateway's headers are added for the second call. */
export async function compareWithDirect(
  provider: ScriptedProvider,
  proxy: InProcessProxy,
  request: { readonly line: string; readonly headers: readonly string[]; readonly body?: Buffer | string },
  gatewayHeaders: readonly string[] = [],
): Promise<Comparison> {
  const body = Buffer.from(request.body ?? '');
  const bytes = (port: number, extra: readonly string[]): Buffer =>
    Buffer.concat([
      Buffer.from(
        [request.line, `Host: 127.0.0.1:${port}`, ...request.headers, ...extra, '', ''].join('\r\n'),
        'latin1',
      ),
      body,
    ]);
  const first = provider.requests.length;
  const direct = await readRawAnswer('127.0.0.1', provider.port, bytes(provider.port, []));
  const through = await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    bytes(proxy.port, [`X-Gateway-Key: ${proxy.key}`, ...gatewayHeaders]),
  );
  const seenDirect = await provider.waitForRequest(first);
  const seenThrough = await provider.waitForRequest(first + 1);
  const at = through.rawHeaders.indexOf('X-Gateway-Request-Id');
  return {
    direct: { provider: providerView(seenDirect), client: clientView(direct) },
    through: {
      provider: providerView(seenThrough),
      client: clientView(through),
      requestId: at === -1 ? '' : (through.rawHeaders[at + 1] ?? ''),
    },
  };
}
