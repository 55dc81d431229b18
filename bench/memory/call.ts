/** One call through the gateway: sends a scenario's request, takes its answer at the scenario's pace, digests both. */
import { once } from 'node:events';
import { type IncomingMessage, request as openRequest } from 'node:http';
import { connect } from 'node:http2';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDigest, headersOf, type Seen, sendPieces } from './provider.ts';
import type { Scenario } from './scenarios.ts';

export interface CallResult {
  readonly status: number;
  readonly answer: Seen;
}

export function runCall(port: number, gatewayKey: string, scenario: Scenario): Promise<CallResult> {
  const run = scenario.isHttp2 === true ? runHttp2 : runHttp1;
  return run(port, gatewayKey, scenario);
}

async function runHttp2(port: number, gatewayKey: string, scenario: Scenario): Promise<CallResult> {
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    const own = ['x-gateway-key', gatewayKey, ...(scenario.request === null ? [] : headersOf(scenario.request))];
    const headers: Record<string, string> = { ':method': scenario.method, ':path': scenario.path };
    for (let index = 0; index + 1 < own.length; index += 2) {
      const name = own[index] ?? '';
      if (name !== 'transfer-encoding') headers[name] = own[index + 1] ?? '';
    }
    const stream = session.request(headers);
    const answered = once(stream, 'response');
    void sendPieces(scenario.request?.pieces ?? (() => []), stream); // It ends with the connection at the latest.
    const [head]: { readonly ':status'?: number }[] = await answered;
    return { status: head?.[':status'] ?? 0, answer: await takeAnswer(stream, scenario.slowly ?? null) };
  } finally {
    session.destroy();
  }
}

async function runHttp1(port: number, gatewayKey: string, scenario: Scenario): Promise<CallResult> {
  const own = ['host', `127.0.0.1:${port}`, 'x-gateway-key', gatewayKey, 'accept-encoding', 'gzip, br, zstd'];
  const headers = scenario.request === null ? own : [...own, ...headersOf(scenario.request)];
  const outgoing = openRequest({
    port,
    host: '127.0.0.1',
    method: scenario.method,
    path: scenario.path,
    headers,
    agent: false,
  });
  const answered = once(outgoing, 'response');
  void sendPieces(scenario.request?.pieces ?? (() => []), outgoing); // It ends with the connection at the latest.
  const [incoming]: IncomingMessage[] = await answered;
  if (incoming === undefined) throw new Error('no answer');
  return { status: incoming.statusCode ?? 0, answer: await takeAnswer(incoming, scenario.slowly ?? null) };
}

async function takeAnswer(incoming: Readable, slowly: Scenario['slowly'] | null): Promise<Seen> {
  const digest = createDigest();
  if (slowly != null) await sleep(slowly.waitMs);
  const startedMs = performance.now();
  let taken = 0;
  for await (const piece of incoming) {
    digest.update(piece);
    taken += piece.length;
    if (slowly == null) continue;
    const aheadMs = (taken / slowly.bytesPerSecond) * 1000 - (performance.now() - startedMs);
    if (aheadMs > 10) await sleep(aheadMs);
  }
  return digest.done();
}
