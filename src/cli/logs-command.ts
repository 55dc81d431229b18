/** `tollgate logs`: the latest calls, or each new one as it comes. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { OperatorError } from '../vocabulary/errors.ts';
import { formatCost, formatCount, formatDuration } from '../vocabulary/format-amounts.ts';
import { addMatches } from './add-matches.ts';
import { addSnippets } from './add-snippets.ts';
import { parseLimit, repeatable } from './command-options.ts';
import { inputTokens, moneyField, numberField, textField, timeField } from './fields.ts';
import { type Column, formatTable, right } from './format-table.ts';
import {
  AnyRecord,
  type ApiRecord,
  type ClientFlags,
  createGatewayClient,
  type GatewayClient,
  RecordList,
  toQuery,
} from './gateway-client.ts';
import { withOwnCommands } from './hints.ts';
import { createOutput, type Output } from './output.ts';
import { readEvents } from './read-events.ts';
import { searchList } from './search-list.ts';
import { showCall } from './show-call.ts';
import { cutText } from './terminal-text.ts';

interface LogFlags extends ClientFlags {
  readonly follow?: true;
  readonly limit: string;
  readonly filter: readonly string[];
  readonly from?: string;
  readonly to?: string;
  readonly excludeRuns?: true;
  readonly search?: string;
  readonly agentSession?: string;
}

const PAGE_ROWS = 500;
const RECONNECT_MS = 1_000;

const COLUMNS: readonly Column[] = [
  'time (UTC)',
  'status',
  'provider',
  'model',
  'run',
  right('in'),
  right('out'),
  right('cost'),
  right('time'),
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

/** What the table shows. */
const FIELDS = [
  'requested_at',
  'status',
  'outcome',
  'provider',
  'model',
  'model_requested',
  'trace_id',
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
  'total_cost',
  'estimated_cost',
  'duration_ms',
].join(',');

/** Stands on top of the others, with the time that it has taken so far. */
function toOpenRow(record: ApiRecord): string[] {
  const sinceMs = Date.now() - Date.parse(textField(record, 'requested_at'));
  return toRow(record)
    .with(COLUMNS.indexOf('status'), 'open')
    .with(-1, `${formatDuration(Math.max(0, sinceMs))} …`);
}

async function showLatest(
  client: GatewayClient,
  query: URLSearchParams,
  flags: LogFlags,
  output: Output,
): Promise<void> {
  const records: ApiRecord[] = [];
  let open: readonly ApiRecord[] = [];
  if (!flags.json) {
    // The first lines of what was said fill what is left of a terminal's width; matches have lines of their own.
    query.set('fields', `${FIELDS},${flags.search === undefined ? 'snippet' : 'matches'}`);
    open = (await client.ask(RecordList, `/api/v1/logs/open?${query}`)).data;
  }
  for await (const record of searchList(client, '/api/v1/logs', query, parseLimit(flags.limit), PAGE_ROWS)) {
    if (flags.json) await output.json(record);
    else records.push(record);
  }
  if (flags.json) return;
  const listed = [...open, ...records];
  if (listed.length === 0)
    process.stderr.write(withOwnCommands('No calls match. `tollgate doctor` shows calls that were refused.\n'));
  else {
    const table = formatTable(COLUMNS, [...open.map(toOpenRow), ...records.map(toRow)]);
    const width = process.stdout.isTTY ? process.stdout.columns : null;
    await output.lines((flags.search === undefined ? addSnippets : addMatches)(table, listed, width));
  }
}

/** Runs until interrupted; after a restart of the gateway it continues where it was. */
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
        if (event.data === null) continue;
        const record = AnyRecord.parse(JSON.parse(event.data));
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
  const client = createGatewayClient(flags);
  const output = createOutput(process.stdout);
  const { from, to } = flags;
  const session = flags.agentSession;
  const filter =
    session === undefined ? flags.filter : [...flags.filter, `agent_session:eq:${encodeURIComponent(session)}`];
  const excludeRuns = flags.excludeRuns ? 'true' : undefined;
  const query = toQuery({ exclude_runs: excludeRuns, q: flags.search, from, to }, filter);
  if (flags.follow) {
    if (from !== undefined || to !== undefined)
      throw new OperatorError('--follow shows what comes from now on; leave out --from and --to');
    return follow(client, query, flags, output);
  }
  return showLatest(client, query, flags, output);
}

export function addLogsCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(program.command('logs [id]'))
    .description(
      'the latest calls, newest first, below those that are open; or one call with its cost and what that was before',
    )
    .option('-f, --follow', 'show every new call as it comes')
    .option('-n, --limit <rows>', 'at most so many', '50')
    .addOption(
      repeatable(
        '--filter <column:op:value>',
        'repeatable; ops eq ne in nin gt gte lt lte has nohas prefix contains; metadata as metadata.Key',
      ),
    )
    .option('--search <text>', 'free text in names, errors, metadata, prompts and answers, in any case')
    .option('--agent-session <id>', 'only calls of that session of an agent, by its own id')
    .option('--from <time>', 'at or after, e.g. 2026-11-28T12:00:00Z')
    .option('--to <time>', 'before')
    .option('--exclude-runs', 'only calls that belong to no run')
    .addHelpText(
      'after',
      '\nExamples:\n  tollgate logs --filter status:gte:400 --filter metadata.Feature:eq:search\n  tollgate logs --follow --json | jq .total_cost\n  tollgate logs 019ac9f0-0000-7000-8000-000000000001',
    )
    .action((id: string | undefined, flags: LogFlags) =>
      id === undefined ? showLogs(flags) : showCall(createGatewayClient(flags), id, flags.json === true),
    );
}
