/** Small JSON calls at a steady rate, whatever the answers do, and how long each took. With their own plain provider. */
import { Agent, createServer, request } from 'node:http';
import { median } from '../proxy/statistics.ts';

const ANSWER = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'gpt-5-2025-08-07',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 20, completion_tokens: 3, total_tokens: 23 },
  }),
);
const QUESTION = JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'Say hello.' }] });
const SPELLINGS = ['X-Gateway-Feature', 'x-gateway-feature', 'X-GATEWAY-FEATURE'] as const;
const CALL_LIMIT_MS = 30_000;

export interface PlainProvider {
  readonly origin: string;
  readonly close: () => void;
}

export async function startPlainProvider(): Promise<PlainProvider> {
  const server = createServer((incoming, outgoing) => {
    incoming.resume();
    incoming.on('end', () => {
      outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': ANSWER.length });
      outgoing.end(ANSWER);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

export interface Latencies {
  readonly calls: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface SteadyCalls {
  /** Ends the load, waits for the last answers. */
  readonly stop: () => Promise<Latencies>;
}

export interface SteadyOptions {
  readonly port: number;
  readonly gatewayKey: string;
  readonly callsPerSecond: number;
}

function startSteadyCalls({ port, gatewayKey, callsPerSecond }: SteadyOptions): SteadyCalls {
  const agent = new Agent({ keepAlive: true });
  const tookMs: number[] = [];
  const open = new Set<Promise<void>>();
  let failed = 0;
  let number = 0;
  const startedMs = performance.now();

  async function call(n: number): Promise<void> {
    const beganMs = performance.now();
    const isGood = await makeCall({ port, gatewayKey, agent, n });
    if (isGood) tookMs.push(performance.now() - beganMs);
    else failed += 1;
  }

  // By the clock, so that a late timer is caught up with.
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedMs) * callsPerSecond) / 1_000);
    for (; number < due; number += 1) {
      const one = call(number).finally(() => open.delete(one));
      open.add(one);
    }
  }, 1_000 / callsPerSecond);

  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
      agent.destroy();
      const sorted = [...tookMs].sort((a, b) => a - b);
      const p99Ms = sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
      return { calls: number, failed, p50Ms: median(tookMs), p99Ms };
    },
  };
}

/** What the work comes to, and how the calls fared that were made meanwhile. */
export async function measureDuring<T>(
  options: SteadyOptions,
  work: () => Promise<T>,
): Promise<{ readonly done: T; readonly latencies: Latencies }> {
  const calls = startSteadyCalls(options);
  try {
    const done = await work();
    return { done, latencies: await calls.stop() };
  } catch (error) {
    await calls.stop();
    throw error;
  }
}

interface Call {
  readonly port: number;
  readonly gatewayKey: string;
  readonly agent: Agent;
  readonly n: number;
}

function makeCall({ port, gatewayKey, agent, n }: Call): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(QUESTION),
      'x-gateway-key': gatewayKey,
      'x-gateway-trace-id': `live-${Math.floor(n / 10)}`,
      [SPELLINGS[n % 3] ?? SPELLINGS[0]]: `feature-${n % 25}`,
    };
    const options = { port, host: '127.0.0.1', method: 'POST', path: '/v1/chat/completions', agent, headers };
    const sent = request({ ...options, timeout: CALL_LIMIT_MS }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode === 200 && answer.complete));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(false));
    sent.end(QUESTION);
  });
}
