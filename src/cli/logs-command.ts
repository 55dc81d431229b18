/** `tollgate logs`: the latest calls, or every new one as it comes. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { OperatorError } from '../errors.ts';
import { formatCost, formatCount, formatDuration } from '../format-amounts.ts';
import { inputTokens, moneyField, numberField, textField, timeField } from './fields.ts';
import { type Column, formatTable } from './format-table.ts';
import {
  type ApiRecord,
  type ClientFlags,
  createGatewayClient,
  type GatewayClient,
  readList,
} from './gateway-client.ts';
import { createOutput, type Output } from './output.ts';
import { parseLimit } from './parse-limit.ts';
import { readEvents } from './read-events.ts';
import { repeatable } from './repeatable.ts';
import { showCall } from './show-call.ts';
import { cutText } from './terminal-text.ts';

interface LogFlags extends ClientFlags {
  readonly json?: true;
  readonly follow?: true;
  readonly limit: string;
  readonly filter: readonly string[];
  readonly from?: string;
  readonly to?: string;
  readonly excludeRuns?: true;
}

const PAGE_ROWS = 500;
const RECONNECT_MS = 1_000;

const COLUMNS: readonly Column[] = [
  { title: 'time (UTC)' },
  { title: 'status' },
  { title: 'provider' },
  { title: 'model' },
  { title: 'run' },
  { title: 'in', align: 'right' },
  { title: 'out', align: 'right' },
  { title: 'cost', align: 'right' },
  { title: 'time', align: 'right' },
];

function toRow(record: ApiRecord): string[] {
  const status = textField(record, 'status') || '–';
  const outcome = textField(record, 'outcome');
  return [
    timeField(record, 'requested_at'),
    outcome === 'ok' ? status : `${status} ${outcome}`,
    textField(record, 'provider'),
    cutText(textField(record, 'model') || textField(record, 'model_requested'), 32),
    cutText(textField(record, 'trace_id'), 24),
    formatCount(inputTokens(record)),
    formatCount(numberField(record, 'output_tokens')),
    formatCost(moneyField(record, 'total_cost'), moneyField(record, 'estimated_cost')),
    formatDuration(numberField(record, 'duration_ms')),
  ];
}

async function showLatest(
  client: GatewayClient,
  query: URLSearchParams,
  flags: LogFlags,
  output: Output,
): Promise<void> {
  const rows: string[][] = [];
  for await (const record of readList(client, '/api/v1/logs', query, parseLimit(flags.limit), PAGE_ROWS)) {
    if (flags.json) await output.json(record);
    else rows.push(toRow(record));
  }
  if (flags.json) return;
  if (rows.length === 0) process.stderr.write('No calls match. `tollgate doctor` shows calls that were refused.\n');
  else for (const line of formatTable(COLUMNS, rows)) await output.line(line);
}

const Any = z.record(z.string(), z.json());

/** Until interrupted; reconnects where it was when the gateway is restarted. */
async function follow(client: GatewayClient, query: URLSearchParams, flags: LogFlags, output: Output): Promise<void> {
  let lastId: string | null = null;
  let hasFollowed = false;
  for (;;) {
    try {
      const headers = lastId === null ? {} : { 'last-event-id': lastId };
      const response = await client.open(`/api/v1/logs/stream?${query}`, headers, new AbortController().signal);
      hasFollowed = true;
      for await (const event of readEvents(response)) {
        lastId = event.id ?? lastId;
        const record = Any.parse(JSON.parse(event.data));
        if (flags.json) await output.json(record);
        else
          await output.line(
            toRow(record)
              .filter((cell) => cell !== '')
              .join('  '),
          );
      }
    } catch (error) {
      if (!hasFollowed || !(error instanceof OperatorError || error instanceof TypeError)) throw error;
    }
    process.stderr.write('The stream ended; connecting again.\n');
    await sleep(RECONNECT_MS);
  }
}

async function showLogs(flags: LogFlags): Promise<void> {
  const client = createGatewayClient(flags, process.env);
  const output = createOutput(process.stdout);
  const query = new URLSearchParams(flags.filter.map((filter) => ['f', filter]));
  if (flags.excludeRuns) query.set('exclude_runs', 'true');
  if (flags.follow) {
    if (flags.from !== undefined || flags.to !== undefined)
      throw new OperatorError('--follow shows what comes from now on; leave out --from and --to');
    return follow(client, query, flags, output);
  }
  if (flags.from !== undefined) query.set('from', flags.from);
  if (flags.to !== undefined) query.set('to', flags.to);
  return showLatest(client, query, flags, output);
}

export function addLogsCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(program.command('logs [id]'))
    .description('the latest calls, newest first; or one call with its cost and what that was before')
    .option('-f, --follow', 'show every new call as it comes')
    .option('-n, --limit <rows>', 'at most so many', '50')
    .addOption(
      repeatable(
        '--filter <column:op:value>',
        'repeatable; ops eq ne in nin gt gte lt lte has nohas prefix contains; metadata as metadata.Key',
      ),
    )
    .option('--from <time>', 'at or after, e.g. 2026-11-28T12:00:00Z')
    .option('--to <time>', 'before')
    .option('--exclude-runs', 'only calls that belong to no run')
    .addHelpText(
      'after',
      '\nExamples:\n  tollgate logs --filter status:gte:400 --filter metadata.Feature:eq:search\n  tollgate logs --follow --json | jq .total_cost\n  tollgate logs 019ac9f0-0000-7000-8000-000000000001',
    )
    .action((id: string | undefined, flags: LogFlags) =>
      id === undefined ? showLogs(flags) : showCall(createGatewayClient(flags, process.env), id, flags.json === true),
    );
}
