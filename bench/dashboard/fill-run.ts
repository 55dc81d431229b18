/** A run of many calls, made the honest way: through the gateway, answered by its local fake provider. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestGateway } from '../../test/gateway/start-gateway.ts';

const CLIENTS = 24;
const POLL_MS = 250;
const WAIT_MS = 120_000;

/** Steps as an agent would name them: three levels, loops, parallel branches. */
function spanPathOf(index: number): string {
  const round = Math.floor(index / 50) % 40;
  const part = ['plan', 'research', 'write', 'review'][index % 4] ?? 'plan';
  return `agent/round ${round}/${part}/${index % 7 === 0 ? 'retry' : `step ${index % 12}`}`;
}

function call(gateway: TestGateway, agent: Agent, traceId: string, index: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: `Question ${index}` }] });
  const asked = request(
    `${gateway.base}/v1/chat/completions`,
    {
      agent,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'x-gateway-key': gateway.key,
        'x-gateway-provider-alias': 'demo',
        'x-gateway-trace-id': traceId,
        'x-gateway-span-path': spanPathOf(index),
        'x-gateway-span-name': `call ${index % 20}`,
      },
    },
    (answer) => {
      answer.resume().on('end', resolve).on('error', reject);
    },
  );
  asked.on('error', reject);
  asked.end(body);
  return promise;
}

export async function fillRun(gateway: TestGateway, traceId: string, calls: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  let next = 0;
  const work = async () => {
    while (next < calls) await call(gateway, agent, traceId, next++);
  };
  await Promise.all(Array.from({ length: CLIENTS }, work));
  agent.destroy();
  const deadlineMs = performance.now() + WAIT_MS;
  for (;;) {
    const run = await gateway.api(`/api/v1/run?trace_id=${encodeURIComponent(traceId)}`).catch(() => null);
    if (run !== null && typeof run === 'object' && 'calls' in run && run.calls === calls) return;
    if (performance.now() > deadlineMs) throw new Error(`the run's ${calls} calls did not arrive in time`);
    await sleep(POLL_MS);
  }
}
