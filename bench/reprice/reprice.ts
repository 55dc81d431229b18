/** Declares prices in a running gateway and has its calls priced again, through the API as anybody would. */
import { asRecord, type TestGateway, waitUntil } from '../../test/gateway/start-gateway.ts';

const PROVIDERS = ['openai', 'anthropic', 'gemini'] as const;
const MODELS = ['gpt-5', 'claude-sonnet-5', 'gemini-3-pro'] as const;

export interface Repriced {
  readonly calls: number;
  readonly changed: number;
  /** From asking to the end, with the pauses for others in it. */
  readonly seconds: number;
}

function post(gateway: TestGateway, path: string, body: object): Promise<unknown> {
  return gateway.api(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Of every model of the log, at every provider: whatever a call cost before, it is another cost now. */
export async function declarePrices(gateway: TestGateway, inputRate: string): Promise<void> {
  for (const provider of PROVIDERS)
    for (const model of MODELS)
      await post(gateway, '/api/v1/prices/overrides', {
        ...{ provider, match: 'prefix', model },
        rates: { input: inputRate, cache_read: '0.1', output: '9' },
      });
}

export async function reprice(gateway: TestGateway, isDryRun: boolean, limitMs: number): Promise<Repriced> {
  const startedMs = performance.now();
  const started = asRecord(await post(gateway, '/api/v1/reprice', { only: 'all', dry_run: isDryRun, reason: 'bench' }));
  const id = Number(started['job_id']);
  const result = await waitUntil(
    'the job is done',
    async () => {
      const job = asRecord(await gateway.api(`/api/v1/jobs/${id}`));
      if (job['state'] === 'failed') throw new Error(`the job failed: ${job['error']}`);
      return job['state'] === 'done' ? asRecord(job['result']) : undefined;
    },
    limitMs,
  );
  const seconds = (performance.now() - startedMs) / 1_000;
  return { calls: Number(result['calls']), changed: Number(result['changed']), seconds };
}
