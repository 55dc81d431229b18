/** Keeps a number of clients busy, each with one call after another, and notes how every call ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CallPlan, callIdOf } from './call-plan.ts';
import { createRawClient } from './raw-client.ts';

/** While nobody listens. */
const REFUSED_WAIT_MS = 50;
/** Between two calls of a client. */
const THINK_MS = 20;

export interface ClientCall {
  readonly n: number;
  readonly id: string;
  readonly ending: 'complete' | 'cut' | 'stuck';
  readonly status: number | null;
  /** Of a complete answer: every byte is as the provider sent it. */
  readonly isRight: boolean;
  readonly durationMs: number;
}

export interface LoadOptions {
  readonly port: number;
  readonly gatewayKey: string;
  readonly clients: number;
  readonly planOf: (n: number) => CallPlan;
}

export interface Load {
  /** Ends every client after its call, and gives all the calls since the start. */
  readonly stop: () => Promise<{ readonly calls: readonly ClientCall[]; readonly refusedConnections: number }>;
}

/** Call numbers go on from load to load, so that every call of a gateway has its own. */
export interface CallNumbers {
  next: number;
}

export function startLoad(options: LoadOptions, numbers: CallNumbers): Load {
  const calls: ClientCall[] = [];
  let refusedConnections = 0;
  let isStopping = false;

  async function runClient(): Promise<void> {
    const client = createRawClient(options.port, options.gatewayKey);
    while (!isStopping) {
      const n = numbers.next++;
      const plan = options.planOf(n);
      const startedMs = performance.now();
      const answer = await client.call(plan);
      if (answer.ending === 'refused') {
        refusedConnections += 1;
        await sleep(REFUSED_WAIT_MS);
        continue;
      }
      const isRight = answer.ending === 'complete' && answer.body.equals(Buffer.from(plan.clientBody));
      const durationMs = performance.now() - startedMs;
      calls.push({ n, id: callIdOf(n), ending: answer.ending, status: answer.status, isRight, durationMs });
      await sleep(THINK_MS);
    }
    client.close();
  }

  const running = Promise.all(Array.from({ length: options.clients }, runClient));
  return {
    async stop() {
      isStopping = true;
      await running;
      return { calls, refusedConnections };
    },
  };
}
