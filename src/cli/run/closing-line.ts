/** What a run has cost, in one line, once its last calls are stored. */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatCount, formatSum } from '../../vocabulary/format-amounts.ts';
import { inputTokens, moneyField, numberField } from '../fields.ts';
import { type ApiRecord, type GatewayClient, RecordList } from '../gateway-client.ts';

/** The shipper looks for records five times a second. */
const POLL_MS = 250;
/** So many equal answers in a row without an open call: nothing is on its way any more. */
const STEADY_ANSWERS = 4;
const LIMIT_MS = 10_000;

/** Null where the run has no call. `isSettled` is false where calls may still be on their way into the log. */
async function readSums(
  client: GatewayClient,
  traceId: string,
): Promise<{ readonly run: ApiRecord | null; readonly isSettled: boolean }> {
  const query = new URLSearchParams({ f: `trace_id:eq:${traceId}`, limit: '1' });
  const deadlineMs = performance.now() + LIMIT_MS;
  let before = '';
  let equal = 0;
  for (;;) {
    const { data } = await client.ask(RecordList, `/api/v1/runs?${query}`);
    const run = data[0] ?? null;
    const now = JSON.stringify([run?.['calls'], run?.['open_calls'], run?.['total_cost']]);
    equal = now === before ? equal + 1 : 1;
    before = now;
    const isOpen = (run === null ? 0 : (numberField(run, 'open_calls') ?? 0)) > 0;
    if (!isOpen && equal >= STEADY_ANSWERS) return { run, isSettled: true };
    if (performance.now() > deadlineMs) return { run, isSettled: false };
    await sleep(POLL_MS);
  }
}

/** Throws as the gateway's client does. */
export async function describeEnd(client: GatewayClient, traceId: string): Promise<string> {
  const { run, isSettled } = await readSums(client, traceId);
  const link = `${client.url}/run?${new URLSearchParams({ trace: traceId })}`;
  if (run === null || numberField(run, 'calls') === 0) return `no calls · ${link}`;
  const calls = numberField(run, 'calls') ?? 0;
  const cost = formatSum(moneyField(run, 'total_cost') ?? 0n, numberField(run, 'unpriced_calls') ?? 0);
  const input = formatCount(inputTokens(run));
  const output = formatCount(numberField(run, 'output_tokens'));
  const sums = `${calls} ${calls === 1 ? 'call' : 'calls'} · ${input} tokens in, ${output} out · ${cost}`;
  return `${sums}${isSettled ? '' : ' so far'} · ${link}`;
}
