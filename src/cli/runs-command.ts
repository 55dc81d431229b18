/** `tollgate runs`: the latest runs; `tollgate runs TRACE`: one of them as a tree. */
import type { Command } from 'commander';
import { z } from 'zod';
import { formatCount, formatDuration, formatSum } from '../format-amounts.ts';
import { toRunCall } from '../runs/leaf-record.ts';
import { buildRunTree, type RunCall } from '../runs/run-tree.ts';
import { moneyField, numberField, textField, timeField } from './fields.ts';
import { type Column, formatTable } from './format-table.ts';
import { type ClientFlags, createGatewayClient, readList } from './gateway-client.ts';
import { createOutput } from './output.ts';
import { parseLimit } from './parse-limit.ts';
import { cutText } from './terminal-text.ts';
import { formatWaterfall } from './waterfall.ts';

interface RunFlags extends ClientFlags {
  readonly json?: true;
  readonly limit: string;
  readonly from?: string;
  readonly to?: string;
}

const PAGE_ROWS = 500;
const CALL_PAGE_ROWS = 5_000;
/** What a terminal can make sense of; beyond, the answer says so and `--json` has all. */
const MAX_DRAWN_CALLS = 50_000;

const COLUMNS: readonly Column[] = [
  { title: 'run' },
  { title: 'state' },
  { title: 'started (UTC)' },
  { title: 'duration', align: 'right' },
  { title: 'calls', align: 'right' },
  { title: 'errors', align: 'right' },
  { title: 'cost', align: 'right' },
  { title: 'in', align: 'right' },
  { title: 'out', align: 'right' },
];

const Run = z.record(z.string(), z.json());

async function listRuns(flags: RunFlags): Promise<void> {
  const client = createGatewayClient(flags, process.env);
  const output = createOutput(process.stdout);
  const query = new URLSearchParams();
  if (flags.from !== undefined) query.set('from', flags.from);
  if (flags.to !== undefined) query.set('to', flags.to);
  const rows: string[][] = [];
  for await (const run of readList(client, '/api/v1/runs', query, parseLimit(flags.limit), PAGE_ROWS)) {
    if (flags.json) {
      await output.json(run);
      continue;
    }
    const open = numberField(run, 'open_calls') ?? 0;
    const input = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];
    rows.push([
      cutText(textField(run, 'trace_id'), 48),
      textField(run, 'state'),
      timeField(run, 'started_at').slice(0, 19),
      formatDuration(numberField(run, 'duration_ms')),
      `${textField(run, 'calls')}${open > 0 ? ` +${open} open` : ''}`,
      textField(run, 'errors'),
      formatSum(moneyField(run, 'total_cost') ?? 0n, numberField(run, 'unpriced_calls') ?? 0),
      formatCount(input.reduce((sum, name) => sum + (numberField(run, name) ?? 0), 0)),
      formatCount(numberField(run, 'output_tokens')),
    ]);
  }
  if (flags.json) return;
  if (rows.length === 0)
    process.stderr.write('No runs. Calls become a run when they send the same X-Gateway-Trace-Id.\n');
  else for (const line of formatTable(COLUMNS, rows)) await output.line(line);
}

async function showRun(traceId: string, flags: RunFlags): Promise<void> {
  const client = createGatewayClient(flags, process.env);
  const output = createOutput(process.stdout);
  const query = new URLSearchParams({ trace_id: traceId });
  const run = await client.ask(Run, `/api/v1/run?${query}`);
  if (flags.json) return output.json(run);
  const calls: RunCall[] = [];
  for await (const record of readList(client, '/api/v1/run/calls', query, MAX_DRAWN_CALLS, CALL_PAGE_ROWS))
    calls.push(toRunCall(record));
  for (const line of formatWaterfall(traceId, buildRunTree(calls))) await output.line(line);
  const all = numberField(run, 'calls') ?? 0;
  const open = numberField(run, 'open_calls') ?? 0;
  if (all > MAX_DRAWN_CALLS)
    await output.line(`Drawn are the first ${MAX_DRAWN_CALLS} of ${all} calls; --json has the sums of all steps.`);
  if (open > 0) await output.line(`${open} calls are still open and not in the sums.`);
  if (typeof run['cut_at'] === 'string') await output.line(describeCut(all, calls.length));
}

/** Without this, a run of which nothing is left would look like one that cost nothing. */
function describeCut(allCalls: number, callsLeft: number): string {
  return callsLeft === 0
    ? `None of the ${allCalls} calls is left: they are past the retention limit. The list of runs has their sums.`
    : 'Earlier calls of this run are past the retention limit and not shown.';
}

export function addRunsCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(program.command('runs [trace]'))
    .description('the latest runs; with a trace id, that run as a tree with costs and times')
    .option('-n, --limit <rows>', 'at most so many', '50')
    .option('--from <time>', 'active at or after, e.g. 2026-11-28T12:00:00Z')
    .option('--to <time>', 'last active before')
    .addHelpText('after', '\nExamples:\n  tollgate runs --limit 10\n  tollgate runs nightly-report-17')
    .action((trace: string | undefined, flags: RunFlags) =>
      trace === undefined ? listRuns(flags) : showRun(trace, flags),
    );
}
