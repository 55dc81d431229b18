/** Finds calls whose headers hold a slip: nearly one of the gateway's own, or a step without a run. */
import { z } from 'zod';
import { findMeantHeader } from '../vocabulary/misspelt-header.ts';
import type { Finding } from './finding.ts';
import type { GatewayClient } from './gateway-client.ts';
import { terminalText } from './terminal-text.ts';

const LOOK_BACK_MS = 24 * 3_600_000;
const MAX_CALLS = 100;

const Calls = z.object({
  data: z.array(z.object({ id: z.string(), requested_at: z.string(), client: z.string().nullable() })),
  next_cursor: z.string().nullable(),
});
const Call = z.object({
  headers: z.object({ request: z.array(z.tuple([z.string(), z.string()])) }).nullable(),
  raw_metadata: z.record(z.string(), z.string()).nullable(),
});

export async function judgeSlips(client: GatewayClient, nowMs: number): Promise<readonly Finding[]> {
  const from = new Date(nowMs - LOOK_BACK_MS).toISOString();
  const ask = (flag: string) => {
    const query = new URLSearchParams({ from, limit: String(MAX_CALLS), f: `flags:in:${flag}` });
    query.set('fields', 'id,requested_at,client');
    return client.ask(Calls, `/api/v1/logs?${query.toString()}`);
  };
  const misspelt = await ask('header_misspelt');
  const stepless = await ask('span_without_trace');
  const findings: Finding[] = [];
  const [latest] = misspelt.data;
  if (latest !== undefined) {
    const call = await client.ask(Call, `/api/v1/logs/${latest.id}`);
    const sent = [
      ...(call.headers?.request ?? []).map(([name]) => name),
      ...Object.keys(call.raw_metadata ?? {}).map((key) => `x-gateway-${key.toLowerCase()}`),
    ];
    const slips = sent.flatMap((name) => {
      const meant = findMeantHeader(name);
      return meant === null ? [] : [`${terminalText(name)} (meant: ${terminalText(meant)}?)`];
    });
    findings.push({
      level: 'note',
      text: `headers: ${describe(misspelt)} a header that is nearly the gateway’s own: ${slips.join(', ')}; it was taken as it was written`,
    });
  }
  if (stepless.data.length > 0)
    findings.push({
      level: 'note',
      text: `headers: ${describe(stepless)} X-Gateway-Span-Path without X-Gateway-Trace-Id, so they are in no run`,
    });
  return findings;
}

function describe({ data, next_cursor }: z.infer<typeof Calls>): string {
  const [latest] = data;
  const count = next_cursor === null ? String(data.length) : `${data.length} or more`;
  const from = latest?.client == null ? '' : ` from ${terminalText(latest.client)}`;
  return `${count} ${count === '1' ? 'call' : 'calls'} of the last day (latest ${latest?.requested_at}${from}) had`;
}
