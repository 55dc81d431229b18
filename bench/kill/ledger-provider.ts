/**
 * A local provider that answers each call as its plan says and keeps a ledger of the calls that reached it: what the
 * log must not lack. The call's number comes in the header `x-call-id`, which the gateway forwards like any other.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CallPlan, numberOf } from './call-plan.ts';

export interface LedgerProvider {
  readonly origin: string;
  /** How often each call arrived, by id. */
  readonly ledger: ReadonlyMap<string, number>;
  readonly close: () => Promise<void>;
}

export interface LedgerProviderOptions {
  readonly planOf: (n: number) => CallPlan;
  /** Waited for after the first piece of each stream. */
  readonly afterFirstPiece?: (callId: string) => Promise<void>;
}

export async function startLedgerProvider(options: LedgerProviderOptions): Promise<LedgerProvider> {
  const ledger = new Map<string, number>();

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const callId = String(incoming.headers['x-call-id'] ?? '');
    ledger.set(callId, (ledger.get(callId) ?? 0) + 1);
    const body = await readBody(incoming);
    const n = numberOf(callId);
    if (n === null) {
      outgoing.writeHead(400).end();
      return;
    }
    const plan = options.planOf(n);
    const isUsageAsked = body.includes('"include_usage":true');
    const pieces = plan.answer(isUsageAsked);
    const isStream = plan.contentType === 'text/event-stream';
    await sleep(plan.pauseMs);
    outgoing.writeHead(200, {
      'content-type': plan.contentType,
      ...(isStream ? {} : { 'content-length': Buffer.byteLength(pieces.join('')) }),
    });
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await sleep(plan.pauseMs);
      if (outgoing.destroyed) return;
      outgoing.write(piece);
      if (index === 0 && isStream) await options.afterFirstPiece?.(callId);
    }
    outgoing.end();
  }

  const server = createServer({ noDelay: true, keepAliveTimeout: 120_000 }, (incoming, outgoing) => {
    outgoing.on('error', () => {}); // The gateway was killed.
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 2_048 }, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    ledger,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)));
  return Buffer.concat(chunks).toString();
}
