/** What the benchmark needs to know of a proxy that it measures, and how it waits for one. Starting them: nginx.ts, gateway.ts. */
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AskedWay } from './variants.ts';

export interface Peer {
  readonly name: string;
  readonly jsonPort: number;
  readonly ssePort: number;
  readonly gatewayKey: string;
  /** A key without what `gatewayKey` is measured with: limits, budgets, brakes, runs from agents; of a gateway alone. */
  readonly plainKey?: string;
  /** Where it is asked in another way than by the gateway's headers. */
  readonly asked?: AskedWay;
  /** The processes that carry the calls; their CPU is what is compared. */
  readonly proxyPids: readonly number[];
  /** The gateway's other processes (supervisor, control, database): said, not compared. */
  readonly otherPids: readonly number[];
  readonly stop: () => Promise<void>;
}

const START_LIMIT_MS = 90_000;

export async function readFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

export async function waitFor<T>(what: string, read: () => T | null | Promise<T | null>): Promise<T> {
  const end = performance.now() + START_LIMIT_MS;
  while (performance.now() < end) {
    const value = await read();
    if (value !== null) return value;
    await sleep(100);
  }
  throw new Error(`${what}: not within ${START_LIMIT_MS / 1000} s`);
}

/** True for any answer, null while nobody listens: the form that `waitFor` takes. */
export async function isAnswered(url: string): Promise<true | null> {
  try {
    await (await fetch(url)).arrayBuffer();
    return true;
  } catch {
    return null;
  }
}
