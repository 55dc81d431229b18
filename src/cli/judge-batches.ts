/** Finds batches whose results, which carry the usage, were fetched around the gateway. */
import { z } from 'zod';
import type { Finding } from './finding.ts';
import type { GatewayClient } from './gateway-client.ts';
import { terminalText } from './terminal-text.ts';

const Calls = z.object({ data: z.array(z.object({ path: z.string(), status: z.number().nullable() })) });

/** Providers keep results for 29 days. */
const LOOK_BACK_MS = 30 * 86_400_000;
/** Polls that are read, the latest first; a batch is polled many times. */
const MAX_STATES = 200;
const MAX_BATCHES = 20;
const STATE = /^(?:\/v1)+\/messages\/batches\/([\w-]{1,128})(?:\?|$)/;

export async function judgeBatches(client: GatewayClient, nowMs: number): Promise<readonly Finding[]> {
  const from = new Date(nowMs - LOOK_BACK_MS).toISOString();
  const ended = await client.ask(Calls, logsAddress(from, MAX_STATES, ['flags:in:leads_away', 'method:eq:GET']));
  const ids = [...new Set(ended.data.flatMap(({ path }) => STATE.exec(path)?.[1] ?? []))].slice(0, MAX_BATCHES);
  const lost: string[] = [];
  for (const id of ids) {
    const fetched = await client.ask(Calls, logsAddress(from, 1, [`path:contains:/${id}/results`, 'status:eq:200']));
    if (fetched.data.length === 0) lost.push(id);
  }
  if (lost.length === 0) return [];
  const named = lost.map((id) => terminalText(id)).join(', ');
  return [
    {
      level: 'note',
      text: `the end of these batches was seen, and their results never came through, so what they cost is not in the log: ${named}. Fetch /v1/messages/batches/ID/results here, and set TOLLGATE_ADDRESSES_ANTHROPIC=rewrite so that clients do (docs/security.md)`,
    },
  ];
}

function logsAddress(from: string, limit: number, filters: readonly string[]): string {
  const query = new URLSearchParams({ from, limit: String(limit) });
  for (const filter of ['endpoint:eq:messages.batches', ...filters]) query.append('f', filter);
  return `/api/v1/logs?${query.toString()}`;
}
